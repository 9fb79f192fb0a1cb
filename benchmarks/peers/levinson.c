/* The symmetric Levinson recursion in plain C, as one would write it by hand for this plan and no other: n,
 * formats, shifts and the rounding (half up) are constants of the compiler.  32-bit words. */
#include <stdint.h>

__extension__ typedef __int128 wide_t;

static inline int64_t half_up(int64_t v, int s)
{
    return s == 0 ? v : (v >> s) + (v >> (s - 1) & 1);
}

static inline int64_t fit(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}

static inline int64_t magnitude(int64_t v)
{
    return v ^ (v >> 63);
}

static inline int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t align(int64_t v, int s)
{
    return s >= 0 ? v >> s : v * (INT64_C(1) << -s);
}

static inline int bits(int64_t v)
{
    return v == 0 ? 0 : 64 - __builtin_clzll((uint64_t)v);
}

static int64_t divide(int64_t num, int64_t den, int *e)
{
    *e = 0;
    if (num == 0) {
        return 0;
    }
    const int64_t size = num < 0 ? -num : num;
    const int up = 62 - bits(size), up_den = 62 - bits(den);
    const int64_t d = (den << up_den) >> 31;
    int64_t n = num * (INT64_C(1) << up);
    *e = up_den - up;
    if ((size << up) >= d << 31) {
        n >>= 1;
        *e += 1;
    }
    const int64_t q = n / d;
    return n % d < 0 ? q - 1 : q;
}

int solve(const int32_t *y, const int32_t *r, int32_t *a, int32_t *x, int64_t *out)
{
    int64_t eps = INT64_C(1) << XI_FRAC, a_used = 0, x_used = 0;
    int a_exp = A_EXP_MIN, x_exp = X_EXP_MIN, e;

    for (int m = 0; m < N; m++) {
        int64_t acc = 0;

        if (m > 0) {
            for (int i = 1; i < m; i++) {
                acc += ((int64_t)r[m - i] * a[i]) >> SHIFT;
            }
            const int64_t num = align(r[m], 31 - XI_FRAC) + align(acc, 62 - SHIFT - XI_FRAC - a_exp);
            if (num >= eps || -num >= eps) {
                return 1;
            }
            const int64_t quotient = divide(-num, eps, &e);
            const int64_t xi = fit(e > 0 ? align(quotient, -e) : half_up(quotient, e < -62 ? 62 : -e));
            if (a_used + (a_used * magnitude(xi) >> 31) + 4 > INT32_MAX) {
                if (++a_exp > A_EXP_MAX) {
                    return 1;
                }
                for (int i = 1; i < m; i++) {
                    a[i] = (int32_t)half_up(a[i], 1);
                }
            }
            a_used = 0;
            for (int i = 1; i <= m / 2; i++) {
                const int64_t left = a[i], right = a[m - i];
                const int64_t first = half_up(left * (INT64_C(1) << 31) + xi * right, 31);
                const int64_t last = half_up(right * (INT64_C(1) << 31) + xi * left, 31);
                a_used = most(a_used, most(magnitude(first), magnitude(last)));
                a[i] = (int32_t)fit(first);
                a[m - i] = (int32_t)fit(last);
            }
            a[m] = (int32_t)half_up(xi, a_exp);
            a_used = most(a_used, magnitude(a[m]));
            eps -= (int64_t)(((wide_t)eps * ((xi * xi) >> 31)) >> 31);
            if (eps < EPS_MIN) {
                return 1;
            }
            acc = 0;
        }
        for (int i = 0; i < m; i++) {
            acc += ((int64_t)r[m - i] * x[i]) >> SHIFT;
        }
        const int64_t mu = align(y[m], 30 - INNOV_FRAC) - align(acc, 62 - SHIFT - INNOV_FRAC - x_exp);
        const int64_t c = fit(divide(mu, eps, &e));
        const int old = x_exp;
        int c_exp = e + XI_FRAC - INNOV_FRAC;
        x_exp += (int)(x_used >> 30);
        if (c == 0) {
            c_exp = x_exp - a_exp - 1;
        }
        x_exp = (int)most(x_exp, most(c_exp, c_exp + a_exp + bits(a_used) - 30));
        if (x_exp > X_EXP_MAX) {
            return 1;
        }
        if (x_exp > old) {
            const int up = x_exp - old > 62 ? 62 : x_exp - old;
            for (int i = 0; i < m; i++) {
                x[i] = (int32_t)half_up(x[i], up);
            }
        }
        const int s = 31 + x_exp - c_exp - a_exp > 62 ? 62 : 31 + x_exp - c_exp - a_exp;
        x_used = 0;
        for (int i = 0; i < m; i++) {
            const int64_t whole = x[i] + half_up(c * a[m - i], s);
            x_used = most(x_used, magnitude(whole));
            x[i] = (int32_t)fit(whole);
        }
        x[m] = (int32_t)half_up(c, x_exp - c_exp > 62 ? 62 : x_exp - c_exp);
        x_used = most(x_used, magnitude(x[m]));
    }
    out[0] = eps;
    out[1] = a_exp;
    out[2] = x_exp;
    return 0;
}
