"""sim.reference.wavelet: the sparse wavelet form of a matrix, and its factors.

In a wavelet basis, most coefficients of a smooth matrix are negligible and are discarded. The solver computes
the non-standard form (NS-form) of the matrix and its Cholesky factors. It follows T. Schouten, J. A. K.
Suykens, B. De Moor, "Multi resolution least squares SVM solver", MWSCAS 2000. The NS-form is that of G.
Beylkin, R. Coifman, V. Rokhlin, Comm. Pure Appl. Math. 44, 1991, and the factors are those of D. L. Gines, G.
Beylkin, J. Dunn, Appl. Comput. Harmon. Anal. 5, 1998.

===============  =============================================================================
module           contents
===============  =============================================================================
basis            transforms W_j = [G | H]: periodic Daubechies wavelets, or lifting
ns_form          A_j, C_j and Z_J of equation (9), without small coefficients
bordered         NS-form of a Toeplitz matrix in O(n), without forming the matrix
factor           factors L_j and X_j, forward and backward substitution
elimination      sparse elimination of the columns of one level
correction       correction of the scale space of a level
solve            the solver
===============  =============================================================================
"""

from .solve import wavelet

__all__ = ["wavelet"]
