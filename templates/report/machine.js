// A module of generated C, and the memory above its own, handed out from below: hw/wasm.py does the same.
const WORDS = { i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array,
  u4: Uint32Array };

async function machine(program) {
  const { instance } = await WebAssembly.instantiate(bytes(program.wasm));
  const own = instance.exports, memory = own.memory;
  let free = own.__heap_base.value;
  const room = (size) => {
    const at = Math.ceil(free / 16) * 16;
    free = at + size;
    const lacking = free - memory.buffer.byteLength;
    if (lacking > 0) memory.grow(Math.ceil(lacking / 65536));
    return at;
  };
  const place = (kind, words) => {
    const Kind = WORDS[kind.slice(1)], at = room(words.length * Kind.BYTES_PER_ELEMENT);
    new Kind(memory.buffer, at, words.length).set(words);
    return at;
  };
  const model = program.learn ? [room(program.state)] : [], answer = room(program.bytes);
  const trainer = program.batch ? [room(program.trainer)] : [];
  const call = (name, ...others) => own[`${program.name}_${name}`](...(name === "train" ? trainer : []),
    ...model, ...others);
  if (program.learn) call("model_init");
  const answered = (name, ...others) => ({ status: call(name, ...others),
    f: new WORDS[program.f.slice(1)](memory.buffer, answer, 1)[0] });
  return { call, place, answered, answer,
    bytesOf: (kind) => WORDS[kind.slice(1)].BYTES_PER_ELEMENT };
}

// Statuses and words for samples { x: [[...], ...], y: [...] or null }: a trainer learns the first of them at
// once and predicts all; a learner predicts each before it learns it; what is trained elsewhere predicts.
async function runProgram(program, { x, y }) {
  const made = await machine(program);
  const inputs = made.place(program.x[0], x.flat());
  const sample = (i) => inputs + i * program.columns * made.bytesOf(program.x[0]);
  let trained = null;
  if (program.batch) {
    const targets = made.place(program.y[0], y.slice(0, program.batch));
    trained = made.call(program.learn, ...(program.uniform ? [] : [inputs]), targets);
  }
  const learns = program.learn && !program.batch;
  const answers = x.map((_, i) => (learns ? made.answered(program.learn, sample(i), y[i], made.answer)
    : made.answered("model_predict", sample(i), made.answer)));
  return { trained, status: answers.map((one) => one.status), f: answers.map((one) => one.f) };
}
