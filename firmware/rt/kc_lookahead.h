/* kerncast runtime: look-ahead Levinson in 32-bit words, header only.  SPDX-License-Identifier: Apache-2.0
 *
 * Step by step sim/model/lookahead.py and block_vectors.py.  A vector is words w with one exponent e,
 * each worth w 2^(e - 31); a new one is summed in k->wide, entries v worth v 2^(e - 62).
 */
#ifndef KERNCAST_KC_LOOKAHEAD_H
#define KERNCAST_KC_LOOKAHEAD_H

#include <stdint.h>

#include "kc_real.h"
#include "kc_trace.h"

#define KC_REFINEMENTS 4
#define KC_GUARD 3
#define KC_EXP_MAX 64
#define KC_A_EXP_MAX 31
#define KC_GOOD (-7)
#define KC_NEAR_BEST (-3)
#define KC_SINGULAR (-20)
#define KC_ACCEPTED (-10)

typedef struct {
    int32_t n;
    int32_t shift; /* makes n products of words fit */
    int64_t r0; /* diagonal of T: a word, or 2^31 */
    int32_t *r; /* n + 1: first row of T, but for r0; the last one is room for a zero */
    const int32_t *y; /* n: right-hand side */
    int32_t *a; /* n + 1: predictor */
    int32_t *g; /* n: first column of the inverse */
    int32_t *b; /* KC_BLOCK * n: columns of T_m^-1 C, and room for corrections */
    int32_t *x; /* n: receives the solution */
    int64_t *wide; /* n + 1: room for one vector */
    uint16_t *blocks; /* n: receives the sizes of the steps */
    int32_t y_exp, a_exp, g_exp, x_exp;
    int32_t b_exp[KC_BLOCK];
    int32_t steps; /* receives their count */
    int32_t positive; /* receives 1 where every step was single and its eps positive, else 0 */
} kc_lookahead_t;

static inline int32_t kc_lookahead_most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Words of wide[..count) with the least exponent, `least` or above, that holds them; it comes back. */
static inline int32_t kc_lookahead_settle(const int64_t *wide, int32_t e, int32_t count, int32_t least,
    int32_t *out)
{
    int64_t used = 0;
    int32_t i, s;

    for (i = 0; i < count; i++) {
        const int64_t size = kc_magnitude(wide[i]);

        used = size > used ? size : used;
    }
    if (used == 0) {
        for (i = 0; i < count; i++) {
            out[i] = 0;
        }
        return least;
    }
    s = kc_lookahead_most(kc_bit_length(used) - 31, least + 31 - e);
    s = s < 62 ? s : 62;
    for (i = 0; i < count; i++) {
        out[i] = (int32_t)kc_narrow(wide[i], s, KC_HALF_UP, -KC_WORD, KC_WORD);
    }
    return kc_lookahead_most(e - 31 + s, least);
}

/* sum_i first[at - i] second[i], i < count: a row of a Toeplitz matrix times a vector. */
static inline int64_t kc_lookahead_dot(const int32_t *first, int32_t at, const int32_t *second, int32_t count,
    int32_t shift)
{
    int64_t acc = 0;
    int32_t i;

    for (i = 0; i < count; i++) {
        acc = kc_mac(acc, first[at - i], second[i], shift);
    }
    return acc;
}

/* sum_j first[at + j] second[j], start <= j < end. */
static inline int64_t kc_lookahead_along(const int32_t *first, int32_t at, const int32_t *second,
    int32_t start, int32_t end, int32_t shift)
{
    int64_t acc = 0;
    int32_t j;

    for (j = start; j < end; j++) {
        acc = kc_mac(acc, first[at + j], second[j], shift);
    }
    return acc;
}

/* The sum of magnitudes. */
static inline kc_real_t kc_lookahead_total(const int32_t *v, int32_t e, int32_t count)
{
    int64_t acc = 0;
    int32_t i;

    for (i = 0; i < count; i++) {
        acc += v[i] > 0 ? (int64_t)v[i] : -(int64_t)v[i];
    }
    return kc_real_short(acc, e + 31);
}

/* The word worth 1 at exponent e >= 1; 1 where there is none. */
static inline int32_t kc_lookahead_one(int32_t e)
{
    return e < 31 ? (int32_t)(INT32_C(1) << (31 - e)) : 1;
}

/* v plus c times u[count - 1], ..., u[0]; the new exponent. */
static inline int32_t kc_lookahead_add_scaled(const kc_lookahead_t *k, int32_t count, int32_t *v,
    int32_t v_exp, kc_real_t c, const int32_t *u, int32_t u_exp)
{
    const int32_t top = kc_lookahead_most(v_exp, c.e + u_exp) + KC_GUARD;
    int32_t i;

    for (i = 0; i < count; i++) {
        k->wide[i] = kc_below(kc_wide(v[i]), v_exp, top)
            + kc_below((int64_t)c.q * u[count - 1 - i], c.e + u_exp, top);
    }
    return kc_lookahead_settle(k->wide, top, count, KC_LEAST, v);
}

/* out = v + d; its exponent. */
static inline int32_t kc_lookahead_sum(const kc_lookahead_t *k, int32_t m, const int32_t *v, int32_t v_exp,
    const int32_t *d, int32_t d_exp, int32_t least, int32_t *out)
{
    const int32_t top = kc_lookahead_most(v_exp, d_exp) + KC_GUARD;
    int32_t i;

    for (i = 0; i < m; i++) {
        k->wide[i] = kc_below(kc_wide(v[i]), v_exp, top) + kc_below(kc_wide(d[i]), d_exp, top);
    }
    return kc_lookahead_settle(k->wide, top, m, least, out);
}

/* c -= T_m v; its new exponent. */
static inline int32_t kc_lookahead_residual(const kc_lookahead_t *k, int32_t m, const int32_t *v,
    int32_t v_exp, int32_t *c, int32_t c_exp)
{
    const int32_t top = kc_lookahead_most(c_exp, v_exp + k->shift) + KC_GUARD;
    int32_t i;

    for (i = 0; i < m; i++) {
        int64_t acc = kc_mac(kc_lookahead_dot(k->r, i, v, i, k->shift), k->r0, v[i], k->shift);

        acc += kc_lookahead_along(k->r, -i, v, i + 1, m, k->shift);
        k->wide[i] = kc_below(kc_wide(c[i]), c_exp, top) - kc_below(acc, v_exp + k->shift, top);
    }
    c_exp = kc_lookahead_settle(k->wide, top, m, KC_LEAST, c);
    KC_TRACE_ALL(residual, c, m, c, 0, m);
    return c_exp;
}

/* c = T_m^-1 c from g and a (G. Heinig, K. Rost, 1984); its new exponent. */
static inline int32_t kc_lookahead_again(const kc_lookahead_t *k, int32_t m, int32_t *c, int32_t c_exp)
{
    int32_t *first = &k->b[k->n], *second = &k->b[2 * k->n];
    const int32_t a_exp = k->a_exp + k->shift, g_exp = k->g_exp + k->shift;
    int32_t i, j, first_exp, second_exp, top;

    for (i = 0; i < m; i++) {
        k->wide[i] = kc_lookahead_along(k->a, -i, c, i, m, k->shift);
    }
    first_exp = kc_lookahead_settle(k->wide, a_exp + c_exp, m, KC_LEAST, first);
    KC_TRACE_ALL(solve_again, first, m, first, 0, m);
    for (i = 0; i < m; i++) {
        int64_t acc = 0;

        for (j = i + 1; j < m; j++) {
            acc = kc_mac(acc, k->g[m - (j - i)], c[j], k->shift);
        }
        k->wide[i] = acc;
    }
    second_exp = kc_lookahead_settle(k->wide, g_exp + c_exp, m, KC_LEAST, second);
    KC_TRACE_ALL(solve_again, second, m, second, 0, m);
    top = kc_lookahead_most(g_exp + first_exp, a_exp + second_exp) + KC_GUARD;
    for (i = 0; i < m; i++) {
        const int64_t left = kc_lookahead_dot(k->g, i, first, i + 1, k->shift);
        const int64_t right = kc_lookahead_along(k->a, m - i, second, 0, i + 1, k->shift);

        k->wide[i] = kc_below(left, g_exp + first_exp, top) - kc_below(right, a_exp + second_exp, top);
    }
    c_exp = kc_lookahead_settle(k->wide, top, m, KC_LEAST, c);
    KC_TRACE_ALL(solve_again, c, m, c, 0, m);
    return c_exp;
}

/* From m to m + 1 by Durbin's update; the new eps. */
static inline kc_real_t kc_lookahead_single(kc_lookahead_t *k, int32_t m, kc_real_t eps)
{
    const kc_real_t one = kc_real(INT32_C(1) << 30, 1);
    const kc_real_t mu = kc_real_add(kc_wide(k->y[m]), k->y_exp,
        -kc_lookahead_dot(k->r, m, k->x, m, k->shift), k->x_exp + k->shift);
    const kc_real_t num = kc_real_short(-kc_lookahead_dot(k->r, m + 1, k->a, m + 1, k->shift),
        k->a_exp + k->shift);
    const kc_real_t xi = kc_real_over(num, eps);
    const kc_real_t inverse = kc_real_over(one, eps);
    int32_t i;

    KC_TRACE(single_step, mu, m, 0, mu.q);
    KC_TRACE(single_step, xi, m, 0, xi.q);
    k->x[m] = 0;
    k->x_exp = kc_lookahead_add_scaled(k, m + 1, k->x, k->x_exp, kc_real_over(mu, eps), k->a, k->a_exp);
    KC_TRACE_ALL(single_step, x, m, k->x, 0, m + 1);
    for (i = 0; i <= m; i++) {
        k->wide[i] = kc_below((int64_t)inverse.q * k->a[i], inverse.e, inverse.e + 1);
    }
    k->g_exp = kc_lookahead_settle(k->wide, inverse.e + 1 + k->a_exp, m + 1, KC_LEAST, k->g);
    KC_TRACE_ALL(single_step, g, m, k->g, 0, m + 1);
    k->a[m + 1] = 0;
    k->a_exp = kc_lookahead_add_scaled(k, m + 2, k->a, k->a_exp, xi, k->a, k->a_exp);
    KC_TRACE_ALL(single_step, a, m, k->a, 0, m + 2);
    eps = kc_real_times(eps, kc_real_plus(one, kc_real_minus(xi)));
    return kc_real_times(eps, kc_real_plus(one, xi));
}

/* Column j of B = T_m^-1 C from the one before. */
static inline void kc_lookahead_column(kc_lookahead_t *k, int32_t m, int32_t j)
{
    const int32_t *old = &k->b[(j - 1) * k->n];
    const int32_t old_exp = k->b_exp[j - 1], both_exp = k->b_exp[j - 1] + k->b_exp[0];
    const int64_t last = m > 0 ? old[m - 1] : 0;
    const kc_real_t c = kc_real_add(kc_wide(k->r[m + j]), 0,
        -kc_lookahead_along(k->r, 1, old, 0, m, k->shift), old_exp + k->shift);
    const int32_t top = kc_lookahead_most(kc_lookahead_most(old_exp, both_exp), c.e + k->g_exp) + KC_GUARD;
    int32_t i;

    for (i = 0; i < m; i++) {
        const int64_t shifted = i == 0 ? 0 : old[i - 1];

        k->wide[i] = kc_below(kc_wide(shifted), old_exp, top) + kc_below(last * k->b[i], both_exp, top)
            + kc_below((int64_t)c.q * k->g[i], c.e + k->g_exp, top);
    }
    k->b_exp[j] = kc_lookahead_settle(k->wide, top, m, KC_LEAST, &k->b[j * k->n]);
    KC_TRACE_ALL(schur_complement, B, m + j, &k->b[j * k->n], 0, m);
}

/* B = T_m^-1 C and S = T_p - C'B, where T_{m+p} = [[T_m, C], [C', T_p]]. */
static inline void kc_lookahead_complement(kc_lookahead_t *k, int32_t m, int32_t p, kc_real_t eps,
    kc_block_t S)
{
    int32_t i, j;

    for (i = 0; i < m; i++) {
        k->b[i] = -k->a[m - i];
    }
    k->b_exp[0] = k->a_exp;
    for (j = 1; j < p; j++) {
        kc_lookahead_column(k, m, j);
    }
    for (i = 0; i < p; i++) {
        for (j = 0; j <= i; j++) {
            const int64_t first = i == j ? k->r0 : k->r[i - j];

            S[i][j] = kc_real_add(kc_wide(first), 0,
                -kc_lookahead_dot(k->r, m + i, &k->b[j * k->n], m, k->shift), k->b_exp[j] + k->shift);
            S[j][i] = S[i][j];
            KC_TRACE(schur_complement, S, m, i * KC_BLOCK + j, S[i][j].q);
        }
    }
    S[0][0] = eps; /* what it is, without the rounding of a long sum */
}

/* From T_m v = c to m + p rows: [v - B z; z], S z = fresh - C'v; the new exponent. */
static inline int32_t kc_lookahead_border(const kc_lookahead_t *k, int32_t m, int32_t p, int32_t *v,
    int32_t v_exp, int32_t least, kc_real_t *fresh, kc_block_t inverse)
{
    kc_real_t z[KC_BLOCK];
    int32_t i, j, top = v_exp;

    for (i = 0; i < p; i++) {
        fresh[i] = kc_real_add(kc_wide(fresh[i].q), fresh[i].e,
            -kc_lookahead_dot(k->r, m + i, v, m, k->shift), v_exp + k->shift);
    }
    for (i = 0; i < p; i++) {
        z[i] = kc_real(0, KC_LEAST);
        for (j = 0; j < p; j++) {
            z[i] = kc_real_plus(z[i], kc_real_times(inverse[i][j], fresh[j]));
        }
        KC_TRACE(border, z, m, i, z[i].q);
        top = kc_lookahead_most(top, kc_lookahead_most(z[i].e, z[i].e + k->b_exp[i]));
    }
    top += KC_GUARD;
    for (i = 0; i < m; i++) {
        int64_t acc = kc_below(kc_wide(v[i]), v_exp, top);

        for (j = 0; j < p; j++) {
            acc -= kc_below((int64_t)z[j].q * k->b[j * k->n + i], z[j].e + k->b_exp[j], top);
        }
        k->wide[i] = acc;
    }
    for (i = 0; i < p; i++) {
        k->wide[m + i] = kc_below(kc_wide(z[i].q), z[i].e, top);
    }
    return kc_lookahead_settle(k->wide, top, m + p, least, v);
}

/* One step of refinement on T g = e_1 and T a[1..] = -(r_1, ..., r_m). */
static inline void kc_lookahead_correct(kc_lookahead_t *k, int32_t m)
{
    int32_t *dg = k->b, *da = &k->b[3 * k->n];
    int32_t i, dg_exp, da_exp;

    for (i = 0; i < m; i++) {
        dg[i] = i == 0 ? INT32_C(1) << 30 : 0;
        da[i] = -k->r[1 + i];
    }
    dg_exp = kc_lookahead_residual(k, m, k->g, k->g_exp, dg, 1);
    da_exp = kc_lookahead_residual(k, m, &k->a[1], k->a_exp, da, 0);
    dg_exp = kc_lookahead_again(k, m, dg, dg_exp);
    da_exp = kc_lookahead_again(k, m, da, da_exp);
    k->g_exp = kc_lookahead_sum(k, m, k->g, k->g_exp, dg, dg_exp, KC_LEAST, k->g);
    KC_TRACE_ALL(block_step, refined_g, m, k->g, 0, m);
    k->a_exp = kc_lookahead_sum(k, m, &k->a[1], k->a_exp, da, da_exp, 1, &k->a[1]);
    KC_TRACE_ALL(block_step, refined_a, m, k->a, 1, m + 1);
    k->a[0] = kc_lookahead_one(k->a_exp);
}

/* From m to m + p; the new eps. */
static inline kc_real_t kc_lookahead_step(kc_lookahead_t *k, int32_t m, int32_t p, kc_block_t inverse)
{
    kc_real_t fresh[KC_BLOCK];
    int32_t i;

    for (i = 0; i < p; i++) {
        fresh[i] = m + i == 0 ? kc_real(INT32_C(1) << 30, 1) : kc_real(0, KC_LEAST);
    }
    k->g_exp = kc_lookahead_border(k, m, p, k->g, k->g_exp, KC_LEAST, fresh, inverse);
    KC_TRACE_ALL(block_step, g, m, k->g, 0, m + p);
    for (i = 0; i < p; i++) {
        fresh[i] = kc_real(-k->r[m + 1 + i], 0);
    }
    k->a_exp = kc_lookahead_border(k, m, p, &k->a[1], k->a_exp, 1, fresh, inverse);
    KC_TRACE_ALL(block_step, a, m, k->a, 1, m + p + 1);
    for (i = 0; i < p; i++) {
        fresh[i] = kc_real(k->y[m + i], k->y_exp);
    }
    k->x_exp = kc_lookahead_border(k, m, p, k->x, k->x_exp, KC_LEAST, fresh, inverse);
    KC_TRACE_ALL(block_step, x, m, k->x, 0, m + p);
    k->a[0] = kc_lookahead_one(k->a_exp);
    kc_lookahead_correct(k, m + p);
    return kc_real_add(kc_wide(k->r0), 0, kc_lookahead_along(k->r, 1, &k->a[1], 0, m + p, k->shift),
        k->a_exp + k->shift);
}

/* Rows to take: the shortest of the best conditioned blocks, and its inverse; 0 if none will do. */
static inline int32_t kc_lookahead_choose(kc_block_t S, kc_block_t inverse, int32_t most, kc_real_t level)
{
    kc_real_t best = kc_real(0, KC_LEAST); /* the least |S^-1| */
    int32_t p;

    for (p = 1; p <= most; p++) {
        const kc_real_t norm = kc_real_invert(S, p, inverse);

        if (norm.q > 0 && (best.q == 0 || kc_real_less(norm, best) != 0)) {
            best = norm;
        }
    }
    level.e += KC_SINGULAR;
    if (best.q == 0 || kc_real_less(kc_real_times(best, level), kc_real(INT32_C(1) << 30, 1)) == 0) {
        return 0;
    }
    best.e -= KC_NEAR_BEST;
    for (p = 1; p <= most; p++) {
        const kc_real_t norm = kc_real_invert(S, p, inverse);

        if (norm.q > 0 && kc_real_less(best, norm) == 0) {
            return p;
        }
    }
    return 0;
}

/* Correct x by T^-1 (y - T x) as long as that at least halves the residual, which comes back. */
static inline kc_real_t kc_lookahead_refine(kc_lookahead_t *k)
{
    int32_t *rest = k->b, *better = &k->b[3 * k->n];
    int32_t i, turn, rest_exp, better_exp;
    kc_real_t found, left;

    for (i = 0; i < k->n; i++) {
        rest[i] = k->y[i];
    }
    rest_exp = kc_lookahead_residual(k, k->n, k->x, k->x_exp, rest, k->y_exp);
    found = kc_lookahead_total(rest, rest_exp, k->n);
    for (turn = 0; turn < KC_REFINEMENTS; turn++) {
        rest_exp = kc_lookahead_again(k, k->n, rest, rest_exp);
        better_exp = kc_lookahead_sum(k, k->n, k->x, k->x_exp, rest, rest_exp, KC_LEAST, better);
        KC_TRACE_ALL(refine, better, turn, better, 0, k->n);
        for (i = 0; i < k->n; i++) {
            rest[i] = k->y[i];
        }
        rest_exp = kc_lookahead_residual(k, k->n, better, better_exp, rest, k->y_exp);
        left = kc_lookahead_total(rest, rest_exp, k->n);
        KC_TRACE(refine, left, turn, 0, left.q);
        if (kc_real_less(kc_real(left.q, left.e + 1), found) == 0) {
            break;
        }
        found = left;
        k->x_exp = better_exp;
        for (i = 0; i < k->n; i++) {
            k->x[i] = better[i];
        }
    }
    return found;
}

/* Whether |eps| is no more than 2^KC_GOOD of its recent level. */
static inline int32_t kc_lookahead_poor(kc_real_t eps, const kc_real_t *recent)
{
    int32_t i;

    for (i = 0; i < KC_BLOCK; i++) {
        if (kc_real_less(kc_real(recent[i].q, recent[i].e + KC_GOOD), kc_real_size(eps)) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The largest |r_i|, at least. */
static inline kc_real_t kc_lookahead_level(const kc_lookahead_t *k)
{
    int64_t most = kc_magnitude(k->r0);
    int32_t i;

    for (i = 1; i < k->n; i++) {
        const int64_t size = kc_magnitude(k->r[i]);

        most = size > most ? size : most;
    }
    return kc_real_short(kc_wide(most), 0);
}

/* Solve T x = y; 1, or 0 where no block of up to KC_BLOCK rows is well conditioned, or x is no answer. */
static inline int32_t kc_lookahead_solve(kc_lookahead_t *k)
{
    const kc_real_t level = kc_lookahead_level(k);
    kc_real_t recent[KC_BLOCK]; /* |eps| at the last regular m, as many as a block may skip */
    kc_real_t eps = kc_real_short(kc_wide(k->r0), 0), most_y;
    kc_block_t S, inverse;
    int32_t m = 0, p;

    for (p = 0; p < KC_BLOCK; p++) {
        recent[p] = level;
    }
    k->r[k->n] = 0; /* it enters the last predictor alone, which may then be anything */
    k->a[0] = INT32_C(1) << 30;
    k->a_exp = 1;
    k->g_exp = KC_LEAST;
    k->x_exp = KC_LEAST;
    k->steps = 0;
    k->positive = 1;
    while (m < k->n) {
        p = 1;
        if (kc_lookahead_poor(eps, recent) != 0) {
            const int32_t most = k->n - m < KC_BLOCK ? k->n - m : KC_BLOCK;

            kc_lookahead_complement(k, m, most, eps, S);
            p = kc_lookahead_choose(S, inverse, most, level);
            if (p == 0) {
                return 0;
            }
        }
        KC_TRACE(lookahead, p, m, 0, p);
        if (p > 1 || eps.q <= 0) {
            k->positive = 0;
        }
        eps = p == 1 ? kc_lookahead_single(k, m, eps) : kc_lookahead_step(k, m, p, inverse);
        KC_TRACE(lookahead, eps, m, 0, eps.q);
        KC_TRACE(lookahead, eps_exp, m, 0, eps.e);
        KC_TRACE(lookahead, a_exp, m, 0, k->a_exp);
        KC_TRACE(lookahead, g_exp, m, 0, k->g_exp);
        KC_TRACE(lookahead, x_exp, m, 0, k->x_exp);
        if (k->a_exp > KC_A_EXP_MAX || k->g_exp > KC_EXP_MAX || k->x_exp > KC_EXP_MAX) {
            return 0;
        }
        m += p;
        recent[k->steps % KC_BLOCK] = kc_real_size(eps);
        k->blocks[k->steps] = (uint16_t)p;
        k->steps++;
    }
    eps = kc_lookahead_refine(k); /* the residual from here on */
    most_y = kc_lookahead_total(k->y, k->y_exp, k->n);
    return kc_real_less(kc_real(most_y.q, most_y.e + KC_ACCEPTED), eps) == 0;
}

#endif
