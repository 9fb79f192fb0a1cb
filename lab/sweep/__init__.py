"""lab.sweep: evaluate design trade-offs in the integer model, point by point.

Code that reads results, such as a report, uses::

    run = open_run(folder)         # E365 if there is no sweep, E366 if damaged; nothing is written
    run.points                     # list of Point: key, inputs, status, code, plan, words, measures
    run.front                      # the Pareto front of run.settings.objectives, sorted
    run.best                       # the cheapest Point within run.settings.constraints, or None
    run.why                        # CheaperSteps: cheaper values and shorter words, with the violated limits

Further attributes are ``run.spec(point)`` (a Spec, whose ``to_toml()`` returns the text of its file),
``run.misses(point)``, ``run.baseline`` (errors of the float64 model for the spec without changes),
``run.space.axes`` (keys and their values), ``run.settings.evaluator.point(inputs)`` (computes any other
point within a few milliseconds) and ``run.settings.evaluator.spec_and_data(inputs)``. ``Point.measures`` maps
the names of ``measures.MEASURES`` to numbers. That table defines the unit of each measure, and whether it is
measured or computed. Measures that do not apply to a point are absent.
"""

from .run import Settings, SweepRun, make_settings, open_run, run_sweep

__all__ = ["Settings", "SweepRun", "make_settings", "open_run", "run_sweep"]
