"""lab.sweep: evaluate design trade-offs in the integer model, point by point.

For those who read results, such as a report::

    run = open_run(folder)         # E365 no sweep there, E366 damaged results; nothing is written
    run.points                     # list of Point: key, inputs, status, code, plan, words, measures
    run.front                      # the Pareto front of run.settings.objectives, sorted
    run.best                       # the cheapest Point within run.settings.constraints, or None
    run.why                        # Steps: each key one step cheaper, each word a bit shorter, what it breaks

and besides them ``run.spec(point)`` (a Spec, whose ``to_toml()`` is its file), ``run.misses(point)``,
``run.baseline`` (errors of float64 with the spec as written), ``run.space.axes`` (keys and their values),
``run.settings.evaluator.point(inputs)`` (any other point, computed at once: some milliseconds) and
``.spec_and_data(inputs)``. ``Point.measures`` contains numbers by the names of ``measures.MEASURES``, which
defines the unit of each, and whether it is measured or computed. A measure that does not apply to a point is
absent.
"""

from .run import Settings, SweepRun, make_settings, open_run, run_sweep

__all__ = ["Settings", "SweepRun", "make_settings", "open_run", "run_sweep"]
