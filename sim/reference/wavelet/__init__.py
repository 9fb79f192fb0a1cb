"""sim.reference.wavelet: thresholded wavelet (NS-)form of a smooth matrix.

The package also computes the Cholesky factors of this form.

T. Schouten, J. A. K. Suykens, B. De Moor, "Multi resolution least squares SVM solver", MWSCAS 2000, after
G. Beylkin, R. Coifman, V. Rokhlin, Comm. Pure Appl. Math. 44, 1991 (the NS-form) and D. L. Gines, G. Beylkin,
J. Dunn, Appl. Comput. Harmon. Anal. 5, 1998 (its factors).

===============  =============================================================================
module           contents
===============  =============================================================================
basis            W_j = [G | H]: Daubechies' wavelets, periodic; lifting on the interval
ns_form          A_j, C_j, Z_J of (9), thresholded
bordered         the same for a Toeplitz matrix: O(n), without forming the matrix
factor           L_j, X_j; forward and backward substitution
elimination      the columns of one level, eliminated in sparse storage
correction       the correction of the scale space by a level
solve            the entry in the table of solvers
===============  =============================================================================
"""

from .solve import wavelet

__all__ = ["wavelet"]
