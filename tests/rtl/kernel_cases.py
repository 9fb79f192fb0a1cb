"""Specs of cores with a Matern kernel of one column and of several, and with the linear kernel."""

KERNELS = {
    "line24": """
        model = {name = "line", algorithm = "kernel_cg"}
        input = {word = "s12f8", columns = 2}
        output = {word = "s12f0"}
        kernel = {type = "linear"}
        cg = {n = 6, lambda = 0.5, steps = 8, tolerance = 8.0}
        numbers = {word = 24}
        """,
    "matern16": """
        model = {name = "smooth", algorithm = "toeplitz_rls"}
        input = {word = "u8f0", offset = 2}
        output = {word = "u12f0", offset = 2048}
        kernel = {type = "matern32", sigma = 6.0}
        toeplitz = {n = 8, lambda = 0.1, scheme = "uniform", step = 3}
        numbers = {word = 16}
        """,
    "roots16": """
        model = {name = "roots", algorithm = "kernel_lms"}
        input = {word = "u9f0", columns = 2}
        output = {word = "s12f0"}
        kernel = {type = "matern52", sigma = 150.0}
        online = {budget = 6, eta = 0.5}
        numbers = {word = 16, exp_table = "small"}
        """,
    "roots24": """
        model = {name = "roots", algorithm = "kernel_cg"}
        input = {word = "s12f8", columns = 2, gain = [1.0, 0.3]}
        output = {word = "s12f0"}
        kernel = {type = "matern32", sigma = 4.0}
        cg = {n = 6, lambda = 0.5, steps = 8, tolerance = 8.0}
        numbers = {word = 24}
        """,
    "meanroots16": """
        model = {name = "meanroots", algorithm = "toeplitz_rls"}
        input = {word = "s12f4", columns = 2}
        output = {word = "s12f0"}
        kernel = {type = "matern32", sigma = 90.0}
        toeplitz = {n = 6, lambda = 0.5, scheme = "diagonal_mean_biased"}
        numbers = {word = 16}
        """,
    "smooth32": """
        model = {name = "smooth", algorithm = "kernel_lms"}
        input = {word = "s16f4", columns = 1}
        output = {word = "s12f0"}
        kernel = {type = "matern52", sigma = 300.0}
        online = {budget = 6, eta = 0.5}
        numbers = {word = 32}
        """,
}
