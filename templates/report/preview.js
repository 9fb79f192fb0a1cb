// Draw points on a canvas until plotly.js is parsed: the same traces, without text.
const PREVIEW = { left: 74, right: 20, top: 44, bottom: 56 };

function niceStep(span) {
  const rough = span / 5, power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((part) => part * power >= rough);
}

function previewAxis(axis, values, from, to) {
  const log = axis.type === "log", scale = log ? Math.log10 : (v) => v;
  let [least, most] = [Math.min(...values), Math.max(...values)].map(scale);
  const spare = (most - least || Math.abs(most) || 1) * 0.06;
  [least, most] = [least - spare, most + spare];
  const at = (value) => from + (scale(value) - least) / (most - least) * (to - from);
  const step = niceStep(most - least), first = Math.ceil(least / step);
  const ticks = log ? axis.tickvals.map((value, i) => [value, axis.ticktext[i]])
    : Array.from({ length: Math.floor(most / step) - first + 1 }, (_, i) => Number(((first + i) * step)
      .toPrecision(9))).map((value) => [value, number(value, 6)]);
  return { at, ticks: ticks.filter(([value]) => scale(value) >= least && scale(value) <= most) };
}

function previewMark(pen, x, y, { size = 6, symbol = "circle", color, line }) {
  const r = size / 2, shade = typeof color === "string" ? color : colour("model");
  pen.beginPath();
  if (symbol === "diamond") [[0, -r], [r, 0], [0, r], [-r, 0]].forEach(([a, b]) => pen.lineTo(x + a, y + b));
  else if (symbol === "star") {
    for (let k = 0; k < 10; k += 1) {
      const angle = Math.PI * (k / 5 - 0.5), away = k % 2 ? r * 0.45 : r;
      pen.lineTo(x + away * Math.cos(angle), y + away * Math.sin(angle));
    }
  } else pen.arc(x, y, r, 0, 2 * Math.PI);
  pen.closePath();
  pen.fillStyle = pen.strokeStyle = shade;
  pen.lineWidth = line?.width ?? 1;
  if (symbol === "circle-open") pen.stroke(); else pen.fill();
}

function previewFrame(pen, x, y, layout, width, height) {
  pen.font = '13px system-ui, "DejaVu Sans", sans-serif';
  pen.strokeStyle = colour("grid");
  pen.lineWidth = 1;
  const mark = (px, py, qx, qy) => { pen.beginPath(); pen.moveTo(px, py); pen.lineTo(qx, qy); pen.stroke(); };
  pen.fillStyle = colour("quiet");
  for (const [value, text] of x.ticks) {
    mark(x.at(value), PREVIEW.top, x.at(value), height - PREVIEW.bottom);
    pen.textAlign = "center";
    pen.fillText(text, x.at(value), height - PREVIEW.bottom + 18);
  }
  for (const [value, text] of y.ticks) {
    mark(PREVIEW.left, y.at(value), width - PREVIEW.right, y.at(value));
    pen.textAlign = "right";
    pen.fillText(text, PREVIEW.left - 8, y.at(value) + 4);
  }
  pen.fillStyle = colour("text");
  pen.textAlign = "center";
  pen.fillText(layout.xaxis.title.text, (PREVIEW.left + width - PREVIEW.right) / 2, height - 10);
  pen.translate(16, (PREVIEW.top + height - PREVIEW.bottom) / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText(layout.yaxis.title.text, 0, 0);
  pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
}

function preview(place, { traces, layout }) {
  const width = place.clientWidth, height = layout.height;
  const canvas = element("canvas", { className: "preview", width: width * devicePixelRatio,
    height: height * devicePixelRatio });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d"), of = (name) => traces.flatMap((trace) => trace[name]);
  const x = previewAxis(layout.xaxis, of("x"), PREVIEW.left, width - PREVIEW.right);
  const y = previewAxis(layout.yaxis, of("y"), height - PREVIEW.bottom, PREVIEW.top);
  pen.scale(devicePixelRatio, devicePixelRatio);
  previewFrame(pen, x, y, layout, width, height);
  for (const trace of traces) {
    const points = trace.x.map((value, i) => [x.at(value), y.at(trace.y[i])]);
    if (trace.mode.includes("lines")) {
      pen.beginPath();
      points.forEach(([px, py], i) => {
        if (i) pen.lineTo(px, points[i - 1][1]);  // level, then up, as the front of plotly.js
        pen.lineTo(px, py);
      });
      pen.strokeStyle = trace.line.color;
      pen.lineWidth = trace.line.width;
      pen.stroke();
    }
    pen.globalAlpha = trace.marker.opacity ?? 1;
    points.forEach(([px, py]) => previewMark(pen, px, py, trace.marker));
    pen.globalAlpha = 1;
  }
  place.replaceChildren(canvas);
}
