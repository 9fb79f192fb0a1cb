"""sim: the catalogue of errors and warnings: for each code its name, how it comes about, how to mend it.

``kerncast explain CODE`` prints an entry; a test holds the codes used in the sources and the rows
below to each other.  E1xx spec file, E2xx numbers, plan and data, E3xx generation, output folder and
target, E4xx link and back ends, E5xx a tool is missing (exit 3), Wxxx warnings.  Rows are in order of
their codes.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One row: a title, the usual cause, the usual remedy."""

    title: str
    cause: str
    remedy: str


_SPEC = {
    "E101": Entry("the spec file cannot be read",
                  "The path is wrong, names a folder, or the file is not UTF-8 text.",
                  "Check the path; `kerncast init NAME` writes a commented spec to start from."),
    "E102": Entry("the spec is not TOML",
                  "The file breaks a rule of TOML at the line named: a missing quote or bracket, a key given "
                  "twice, a value without its key.",
                  "Correct that line. Text is quoted (word = \"s16f15\"), numbers are not (n = 256)."),
    "E103": Entry("unknown key",
                  "A table holds a key that kerncast does not know; nothing is ignored silently.",
                  "Correct the spelling, move the key to the table it belongs to, or remove it."),
    "E104": Entry("unknown table",
                  "The spec holds a table, or a key outside all tables, that kerncast does not know.",
                  "Correct the spelling or remove it."),
    "E105": Entry("a table is missing",
                  "[model], [input], [output] and [kernel] are always needed; algorithm toeplitz_rls needs "
                  "[toeplitz], kernel_cg needs [cg] and kernel_lms needs [online].",
                  "Add the table; `kerncast init` shows each with its keys."),
    "E106": Entry("a key is missing", "A key without a default is not given.",
                  "Add the key to the table named."),
    "E107": Entry("wrong type",
                  "Text where a number is needed, a number in quotes, a fraction where an integer is needed, "
                  "a value where a table is needed, or the like. Nothing is converted silently.",
                  "Write the value in the form named under `allowed`."),
    "E108": Entry("a value is out of range",
                  "The value has the right type, but the mathematics or the device has no use for it: lambda "
                  "or sigma not above 0, eta not between 0 and 2, n or budget below 2.",
                  "Choose a value in the range named."),
    "E109": Entry("not one of the choices", "The key takes one of a few values.",
                  "Choose one of those listed."),
    "E110": Entry("the model's name cannot be used in C",
                  "The name becomes the prefix of every C symbol and file, so it must be an identifier, must "
                  "not be a word of the language, and must not shadow a standard header such as math.h.",
                  "Use lower-case letters, digits and single underscores, a letter first; at most 24."),
    "E111": Entry("the tables do not fit the algorithm",
                  "toeplitz_rls is described by [toeplitz], kernel_cg by [cg], kernel_lms by [online]; the "
                  "spec has another one, or several.",
                  "Remove the table that does not belong, or change [model] algorithm."),
    "E112": Entry("a list has the wrong length",
                  "offset and gain of [input] are one number for all columns, or a list of one each.",
                  "Give as many entries as there are columns, or a single number."),
    "E113": Entry("two settings exclude each other",
                  "Scheme uniform is for samples of one column at a constant step; step has a meaning there "
                  "only; eta and rho together may halve the multipliers at most; each type of kernel has "
                  "keys of its own.",
                  "Change one of the two settings named."),
    "E114": Entry("a format for an unknown signal",
                  "[numbers.formats] names a signal whose format this algorithm does not let you choose.",
                  "Use one of the signals listed, or remove the line."),
    "E115": Entry("the bundled data do not fit the spec",
                  "The ECG is one uniformly sampled column; the digits have 64 columns of words 0 to 16 and "
                  "targets -1 and +1.",
                  "Change the setting named, or give a data file of your own."),
    "E116": Entry("[data] must name one source", "Both or neither of builtin and file are given.",
                  "Keep one of them; test goes with file."),
    "E117": Entry("a cast that cannot be chosen",
                  "[numbers.casts] names a signal that this algorithm does not cast, or asks for wrap where "
                  "a bound keeps every value within the word, so that wrap and saturate give the same words.",
                  "Use one of the signals listed, or choose the rounding only."),
    "E118": Entry("a range that decides nothing",
                  "[numbers.ranges] names a signal whose format follows from a bound or moves with the data, "
                  "or gives a range that is larger than the bound.",
                  "Remove the line."),
    "E119": Entry("no such signal", "`kerncast plan --why` was given a name that the plan does not have.",
                  "Use one of the names listed."),
    "E120": Entry("no advice on the word length",
                  "Advice is predicted for the Toeplitz trainer, from the inputs that its first row is "
                  "made of, and measured on data for conjugate gradients; there is none for the online "
                  "learner.",
                  "Use kerncast sim, which measures the error, or name data in [data]."),
    "E190": Entry("no such error code", "`kerncast explain` was given a code that no message carries.",
                  "Copy the code from the message: E or W and three digits."),
    "E191": Entry("the system refused to read or write",
                  "A folder is missing or not writable, or the disk is full.",
                  "Check the path named and its permissions."),
    "E192": Entry("the file exists already",
                  "kerncast does not overwrite what you wrote, or one file by another.",
                  "Choose another name or another folder, or remove the file."),
    "E193": Entry("no such group of tools", "`kerncast doctor --group` was given an unknown name.",
                  "Use one of the groups listed."),
}

_NUMBERS = {
    "E201": Entry("not a number format",
                  "Formats are written as sign, total bits, f, fraction bits: s16f15, u12f0.",
                  "Write it in this form. A negative number of fraction bits is allowed: u16f-2."),
    "E202": Entry("NaN or infinity has no fixed-point word", "A value that is not finite met a quantiser.",
                  "Remove or repair the sample it came from."),
    "E203": Entry("a chosen format cannot hold the signal",
                  "A format in [numbers.formats] is too narrow for the values that the data or the formulas "
                  "produce, or its fraction bits do not fit the other formats.",
                  "Drop the override, or give the signal more integer bits."),
    "E204": Entry("kernel, gains or grid do not fit the words",
                  "The kernel is so narrow or wide, its period so short or long, its degree so high, or the "
                  "gains of the columns so unequal, that words of [numbers] word bits cannot show the "
                  "differences that matter.",
                  "Scale the input, change the kernel's parameters, or set [numbers] word = 32."),
    "E205": Entry("lambda is too small for the word length",
                  "The bound on the multipliers grows as 1/lambda; no shift is left under which every "
                  "partial sum fits.",
                  "Raise lambda, lower n, or set [numbers] word = 32."),
    "E206": Entry("the model is larger than any device can address",
                  "The device indexes with 32 bits; n or budget, times columns, asks for 2 GB or more.",
                  "Lower n or budget, or use fewer columns."),
    "E207": Entry("a cast of another tool has no counterpart",
                  "The tool rounds or overflows in a way that kerncast does not offer, or the tool is not "
                  "one whose notation is known.",
                  "Use floor, half_up or half_even, with saturate or wrap."),
    "E210": Entry("not a plan of this version",
                  "plan.json is damaged, was edited by hand, or comes from another version of kerncast.",
                  "Generate the folder again."),
    "E211": Entry("not a vector file", "vectors.json is damaged or comes from another version of kerncast.",
                  "Generate the folder again."),
    "E220": Entry("the width of the kernel is out of range", "sigma and period must be positive and finite.",
                  "Give them in the units of x, after offset and gain."),
    "E221": Entry("lambda must be positive",
                  "The regulariser lam is zero, negative, not finite or not a number.",
                  "Start with lam = 1; with little noise in the targets go lower."),
    "E222": Entry("no such scheme for the first row", "The name of the scheme is not known.",
                  "Use uniform, diagonal_mean or diagonal_mean_biased."),
    "E223": Entry("the samples are not a uniform grid",
                  "Scheme uniform is exact for equally spaced samples of one column, in order, only.",
                  "Sort or resample the data, or use scheme diagonal_mean."),
    "E224": Entry("samples and targets do not fit",
                  "The array has the wrong number of axes, columns or rows, or holds NaN or infinity.",
                  "Give X of shape (m, D) and y of shape (m,), finite, with the D of the model."),
    "E225": Entry("the linear system has the wrong shape",
                  "Targets must be finite, one row for each sample; of a Toeplitz system r must have one "
                  "axis, and Y as many rows as r has entries.",
                  "Give y of shape (n,) or (n, m); the first column of T + lambda I as r."),
    "E226": Entry("no such method for Toeplitz systems", "The name of the method is not known.",
                  "Use one of the methods listed."),
    "E227": Entry("the Toeplitz matrix is not symmetric",
                  "r_row differs from r, and the method is one for symmetric systems.",
                  "Use method auto or levinson, or leave r_row away."),
    "E228": Entry("eta or rho is out of range",
                  "The learning rate must be positive, and the decay must not turn a multiplier's sign.",
                  "Start with eta = 0.1 and rho = 0."),
    "E229": Entry("the budget is too small",
                  "The reduction needs at least a few vectors to choose from, or nothing at all limits their "
                  "number.", "Raise the budget."),
    "E230": Entry("no such reduction",
                  "The name of the reduction, or of its projection or metric, is not known.",
                  "Use fklms."),
    "E231": Entry("the kernel lacks a property",
                  "The algorithm relies on a property of the kernel: the Toeplitz trainer that k(u, v) "
                  "depends on u - v only; FKLMS that k(v, v) = 1 and that k falls with a distance. "
                  "Polynomial and linear kernels have none of these.",
                  "Choose another kernel, or algorithm kernel_cg, which takes every kernel."),
    "E232": Entry("the class labels do not fit",
                  "There is one class only, or a label or list of classes unlike those of the first call.",
                  "Name all classes at the first call of partial_fit, or fit afresh."),
    "E233": Entry("the data were refused by the estimator",
                  "NaN or infinity, the wrong number of columns or axes, complex or sparse data.",
                  "Mend what the message names; inputs are dense, finite, of shape (m, D)."),
    "E234": Entry("the samples must be presented at least once",
                  "presentations is below 1, or not an integer.", "Start with 10."),
    "E235": Entry("the block bound of look-ahead is out of range",
                  "A block of one row is an ordinary step, and memory and time grow with the bound.",
                  "Start with 16; raise it where the status is breakdown and the matrix is not singular."),
    "E236": Entry("no such preconditioner, or a tolerance out of range",
                  "The name is not known, the preconditioner does not go with the matrix (circulants take a "
                  "Toeplitz one), or the tolerance is beyond what float64 can reach or too loose.",
                  "Leave the preconditioner out, and use 1e-10."),
    "E237": Entry("does not fit the memory",
                  "A method that holds a matrix of n x n was asked for more samples than the memory takes.",
                  "Use a method in O(n) memory (cg, or a Toeplitz method), or fewer samples."),
    "E238": Entry("no such method for kernel systems, or an option out of range",
                  "The name of the method, or an option of it, is not known or has no meaning.",
                  "Use method auto and leave its options out."),
    "E239": Entry("K + lambda I is not positive definite in float64",
                  "lambda is so small that rounding hides it beside the largest eigenvalue of K.",
                  "Use a larger lambda, or the eigendecomposition (eigh)."),
    "E240": Entry("the spec names no data", "The command needs data, and the spec has no [data] table.",
                  "Add [data] with builtin or file, or pass arrays through the Python API."),
    "E241": Entry("a data file cannot be read",
                  "The path is wrong, the file is damaged, or it is of another format than its name says.",
                  "Check the path (in a spec it is relative to the spec's folder), or name the format."),
    "E242": Entry("the columns of a data file are wrong",
                  "For a spec the first line names the columns: x0, x1, ... and y (only y for scheme "
                  "uniform), as many as [input] columns says. load_samples was asked for a column that is "
                  "not there, or with an option that the format has not.",
                  "Correct the header line, [input] columns, or the columns asked for."),
    "E243": Entry("a row has too few or too many fields", "A separator is missing or doubled.",
                  "Correct the row; fields are separated by commas."),
    "E244": Entry("not an integer",
                  "Data are raw words as the sensor delivers them, so integers; text, an empty field or a "
                  "fraction cannot be one.",
                  "Export raw words, not physical values; [input] offset and gain convert them."),
    "E245": Entry("NaN or infinity in the data", "Nothing can be learnt from NaN or infinity.",
                  "Remove or repair the sample."),
    "E246": Entry("a value does not fit the raw word",
                  "The value lies outside the range of [input] word or [output] word.",
                  "Use a wider word, or repair the sample."),
    "E247": Entry("too few samples", "The trainer needs n samples, and the data hold fewer, or none.",
                  "Lower n, or give more data."),
    "E248": Entry("an array has the wrong shape",
                  "Inputs are of shape (m, D) and targets of shape (m,), of integers.",
                  "Reshape the array; a single column may also be given as shape (m,)."),
    "E250": Entry("the model in fxpmath cannot run this",
                  "It is an independent opinion for small sizes, n or budget up to 32, and has not the "
                  "float32 of the solver lookahead_f32.",
                  "Use the back end model, or a smaller size."),
    "E251": Entry("a value is missing",
                  "A field of the data file is empty, or holds a sign for no value: NA, NaN, null or ?.",
                  "Fill the gap, for instance from the neighbours, or leave the sample out."),
    "E252": Entry("not a number",
                  "A field that should be a number is text, or a line has not the form of its format.",
                  "Correct the line named; a target that is a class is asked for with labels."),
    "E253": Entry("a label that is not among those asked for",
                  "The target of a sample is none of the classes named, or no sample has the class named.",
                  "Name all classes that occur, or leave the samples out."),
    "E254": Entry("no reader is known for a data file", "The ending of its name does not tell its format.",
                  "Name the format: csv, npz, libsvm or wav."),
    "E255": Entry("no such data set, or none to be had",
                  "The name is not known, or no package brings this set; kerncast downloads nothing.",
                  "Choose a known name, or pass your own copy of the set."),
    "E256": Entry("a copy is not the data set whose name it was given",
                  "It has another number of columns; what stands in for a set must not go by its name.",
                  "Load the file by its path."),
    "E257": Entry("the arrays of a file are no training set",
                  "Inputs are of shape (n, D) and targets of shape (n,) or (n, K), both of real numbers.",
                  "Name the arrays, reshape or convert them."),
    "E258": Entry("an option of the reduction is out of range",
                  "truncation, max_deterioration, max_age or ls_penalty is not a number of the kind allowed, "
                  "or magnitude truncation was not told which magnitude.",
                  "Leave the option away to do without it; mt needs max_deterioration."),
    "E260": Entry("the checkpoint belongs to another computation",
                  "The file was written for other samples, another kernel, another precision, or by a "
                  "version that takes the sums in another order.",
                  "Name another file, or remove this one."),
    "E261": Entry("the checkpoint cannot be read", "The file is damaged, or no checkpoint.",
                  "Name another file, or remove this one."),
    "E262": Entry("the cluster does not answer",
                  "There is no scheduler at the address, it has no workers, or they were lost.",
                  "Start scheduler and workers with kerncast installed; a checkpoint keeps what was done."),
    "E263": Entry("no such precision", "Kernel values are float64 or float32.", "Use float64."),
}

_GENERATION = {
    "E301": Entry("the model does not fit the target",
                  "The state grows with n, or with budget times columns, and the tables with the word "
                  "length; together with the stack they need more memory than the target has.",
                  "Lower the key named, choose [numbers] word = 16, or a larger target."),
    "E302": Entry("the output folder is not ours",
                  "The path is a file, or a folder with files or links that kerncast did not make. Nothing "
                  "of yours is overwritten or deleted.",
                  "Choose another -o, or empty the folder yourself."),
    "E303": Entry("generated files were edited by hand",
                  "A file differs from what the manifest of the folder says was written.",
                  "Move your changes elsewhere and delete the file, or generate into another folder."),
    "E304": Entry("the manifest cannot be read",
                  "manifest.json of the folder is damaged, of another version, or names files outside it.",
                  "Generate into a new folder."),
    "E305": Entry("not a generated folder",
                  "The folder lacks the files that the command works on, or its generation was interrupted.",
                  "Make one with: kerncast gen SPEC -o FOLDER."),
    "E306": Entry("the model is too large for the predictor in SystemVerilog",
                  "The core keeps every vector in memory of its own, which has a limit.",
                  "Lower the key named, or use fewer columns."),
    "E307": Entry("the predictor in SystemVerilog adds no intercept",
                  "The core sums the expansion only; the C adds the bias of the trainer to it.",
                  "Remove bias, or take the mean of the targets as [output] offset."),
    "E308": Entry("the folder holds no test vectors",
                  "Vectors are generated from data, and the spec has none.",
                  "Add [data] to the spec and generate again."),
    "E309": Entry("the vectors belong to another plan",
                  "Vectors and plan of the folder differ in their hash.",
                  "Generate the folder again."),
    "E320": Entry("a compiler refused generated code",
                  "Generated files were changed, or the compiler is older or stricter than those tested.",
                  "Read its message; report it with the spec if you have not changed the files."),
    "E322": Entry("no such board", "firmware/boards holds no file of this name.",
                  "Choose a board from the list, or add its file."),
    "E323": Entry("no such target", "firmware/targets holds no file of this name.",
                  "`kerncast targets` lists them; or add its file."),
    "E324": Entry("the file of a board or target is wrong",
                  "A key is missing, unknown or of the wrong type.",
                  "Correct the file; those beside it show the keys."),
    "E325": Entry("no such compiler or optimisation level", "The name is not known.",
                  "Use one of those listed."),
    "E326": Entry("the image does not fit the board",
                  "Library, agent and stack need more flash or RAM than the board has.",
                  "Choose fewer samples or vectors, a shorter word, or a larger board."),
    "E327": Entry("the compiler cannot build for this target",
                  "A target's file has flags for the compilers that know its core; the others cannot build.",
                  "Use one of those listed, or --compiler auto."),
}

_LINK = {
    "E410": Entry("the serial port cannot be opened",
                  "The port does not exist, another program holds it, or you may not use it.",
                  "Close the other program, join the group dialout, or name another port."),
    "E411": Entry("the link to the board was lost",
                  "The cable was pulled, or the emulator ended; its last words are part of the message.",
                  "Look at the cable or at the emulator's message, then start again."),
    "E412": Entry("the board does not answer",
                  "Wrong port or baud rate, no firmware with the HIL agent, or a board that hangs.",
                  "Check port, baud rate and firmware, and reset the board."),
    "E413": Entry("the firmware was generated from another plan",
                  "The plan's hash in the firmware differs from the host's: their words could not agree.",
                  "Build and load the firmware again from this plan."),
    "E414": Entry("board and host speak different versions",
                  "The protocol, the ABI or a size in the greeting of the board differs from the host's.",
                  "Build firmware and host from the same version of kerncast."),
    "E415": Entry("the board refused a request", "The agent answered with a status other than OK.",
                  "Build firmware and host from the same plan and version."),
    "E416": Entry("the board restarted or took a fault",
                  "Power, watchdog, a stack overflow or a damaged image; its state is lost.",
                  "Look for these, reset the board, then start again."),
    "E417": Entry("no such emulated board", "The back end names a board or an emulator that is not known.",
                  "Use one of those listed; `kerncast targets` lists them."),
    "E420": Entry("no such back end or simulator", "The name is not one of the forms known.",
                  "Use one of the forms listed."),
    "E431": Entry("the RTL back end cannot do this", "The core in SystemVerilog predicts; it does not learn.",
                  "Train on another back end and pass its state."),
    "E432": Entry("an RTL simulation failed",
                  "The simulator refused the sources, ended early, or ran into its limit of cycles.",
                  "Read the log named; its last lines are part of the message."),
    "E433": Entry("the back end has no trace hooks",
                  "--bisect compares what is computed inside a call. The RTL and the model in fxpmath "
                  "give their results only.",
                  "Use model, host, an emulator or a board; without --bisect every back end is compared."),
    "E434": Entry("the firmware has no trace hooks",
                  "The hooks cost time and memory, so that they are compiled in on request only.",
                  "Build with `kerncast build OUT --trace` and load that image, or use an emulator."),
}

_MISSING = {
    "E501": Entry("a package is missing",
                  "The command needs a package of one of kerncast's extras, or one that brings data.",
                  "Install it with the command named; `kerncast doctor` lists all."),
    "E511": Entry("a C compiler is missing", "None of the compilers that the command can use is installed.",
                  "Install one with the command named; python -m pip install ziglang is enough."),
    "E512": Entry("an emulator is missing", "The emulator of this back end is not installed.",
                  "Install it with the command named; unicorn from pip is enough for a Cortex-M4."),
    "E513": Entry("a program of the RTL simulation is missing",
                  "The simulator, or make, perl or g++ that it calls, is not installed.",
                  "Install it with the command named."),
}

_WARNINGS = {
    "W201": Entry("lambda is lost in the rounding of the kernel",
                  "lambda is less than one lsb of the words that hold kernel values. Rounding then takes "
                  "more from the least eigenvalue than lambda gives, and trainings may end with "
                  "NOT_POSITIVE_DEFINITE. Polynomial and linear kernels of large inputs have a large lsb.",
                  "Scale the inputs with [input] offset and gain, raise lambda, or take a longer word."),
    "W202": Entry("no bound can be certified",
                  "Rounding all kernel values may take more from the least eigenvalue than lambda gives; "
                  "or the scheme is diagonal_mean, where nothing is known of the least eigenvalue. The "
                  "answer may be good, but its status is INACCURATE.",
                  "Raise lambda, take a longer word, or use diagonal_mean_biased."),
    "W203": Entry("the words cannot show the answer",
                  "Every prediction is below half an lsb of y: lambda is very large, or the targets fill "
                  "little of their raw word; or eta is so small that no multiplier ever moves.",
                  "Bring lambda or eta nearer to 1, or describe the targets by a shorter [output] word."),
    "W204": Entry("the words are too coarse for the targets",
                  "Words of y reach as far as the raw words do, and the targets fill so few of their "
                  "steps that rounding them alone costs more than a percent. The certified bound is of the "
                  "system in words: this error is not in it, and the status may be OK.",
                  "Describe the targets by a shorter [output] word that they fill, or take a longer "
                  "[numbers] word."),
    "W205": Entry("the words are too coarse for the inputs",
                  "Words of x reach as far as the raw words do, and their steps are so long that rounding "
                  "moves samples by more than a percent of the kernel's width (sigma; for the periodic "
                  "kernel sigma * period / 2 pi; for products of inputs their size). No bound and no status "
                  "tells this error.",
                  "Describe the inputs by a shorter [input] word that they fill, or take a longer "
                  "[numbers] word."),
}

#: Every error and warning a user can meet, by its code.
CATALOGUE: dict[str, Entry] = _SPEC | _NUMBERS | _GENERATION | _LINK | _MISSING | _WARNINGS
