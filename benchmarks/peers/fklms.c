/* FKLMS with a fixed budget in plain C, as one would write it by hand for this plan and no other: N, D,
 * formats, shifts and the rounding (half up) are constants of the compiler.  32-bit words. */
#include <stdint.h>

__extension__ typedef unsigned __int128 wide_t;

#define LN2 UINT64_C(0xB17217F8) /* f32 */

typedef struct {
    int16_t v[N][D];
    int32_t alpha[N], elder[N], rank[N];
    int64_t row[N], dist[N];
    int32_t count;
} state_t;

static inline int64_t half_up(int64_t v, int s)
{
    return (v >> s) + (v >> (s - 1) & 1);
}

static inline int64_t fit(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}

static inline int64_t distance(const int16_t *u, const int16_t *v)
{
    int64_t d2 = 0;

    for (int c = 0; c < D; c++) {
        const int64_t d = u[c] - v[c];
        d2 += d * d;
    }
    return d2;
}

static inline int64_t kernel(int64_t d2, const uint32_t *coarse, const uint32_t *fine)
{
    if (d2 >= D2_END) {
        return 0;
    }
    const uint64_t t = (uint64_t)(((wide_t)d2 * KERNEL_C) >> KERNEL_SHIFT);
    const uint64_t tail = ((t & 0xFFFF) << 6) * LN2 >> 32;
    const uint64_t step = fine[t >> 16 & 255];
    const uint64_t fall = step + tail - (step * tail >> 38);
    const uint64_t head = coarse[t >> 24 & 255];
    const uint64_t value = (UINT64_C(1) << 32) + head - ((fall + (head * fall >> 32)) >> 6);
    return half_up((int64_t)value, (int)(t >> 32) + 2);
}

/* The slot nearest to one of its elders; of equals, the newest. */
static int closest(const state_t *s)
{
    int slot = -1;

    for (int i = 0; i < N; i++) {
        if (s->rank[i] != 0 && (slot < 0 || s->dist[i] < s->dist[slot]
                                || (s->dist[i] == s->dist[slot] && s->rank[i] > s->rank[slot]))) {
            slot = i;
        }
    }
    return slot;
}

/* alpha_j += alpha_slot k(v_j, v_slot) for all others. */
static int project(state_t *s, int slot, const uint32_t *coarse, const uint32_t *fine)
{
    const int64_t gone = s->alpha[slot];
    int saturated = 0;

    for (int j = 0; j < N; j++) {
        if (j != slot) {
            const int64_t k = kernel(distance(s->v[j], s->v[slot]), coarse, fine);
            const int64_t word = s->alpha[j] + half_up(gone * k, PROJECT_SHIFT);
            s->alpha[j] = (int32_t)fit(word);
            saturated |= s->alpha[j] != word;
        }
    }
    s->alpha[slot] = 0;
    return saturated;
}

/* Take `slot` out of the order of age; search again for those whose nearest elder it was. */
static void forget(state_t *s, int slot)
{
    const int age = s->rank[slot];

    for (int j = 0; j < N; j++) {
        if (s->elder[j] == slot && s->rank[j] > age) {
            int best = -1;
            for (int i = 0; i < N; i++) {
                if (i != slot && s->rank[i] < s->rank[j]) {
                    const int64_t d2 = distance(s->v[j], s->v[i]);
                    if (best < 0 || d2 < s->dist[j] || (d2 == s->dist[j] && s->rank[i] < s->rank[best])) {
                        best = i;
                        s->dist[j] = d2;
                    }
                }
            }
            s->elder[j] = best;
        }
    }
    for (int j = 0; j < N; j++) {
        s->rank[j] -= s->rank[j] > age;
    }
}

static void insert(state_t *s, int slot, const int16_t *x, int32_t alpha, int count)
{
    int best = -1;

    for (int j = 0; j < count; j++) {
        if (j != slot && (best < 0 || s->row[j] < s->row[best]
                          || (s->row[j] == s->row[best] && s->rank[j] < s->rank[best]))) {
            best = j;
        }
    }
    for (int c = 0; c < D; c++) {
        s->v[slot][c] = x[c];
    }
    s->alpha[slot] = alpha;
    s->rank[slot] = count - 1;
    s->elder[slot] = best < 0 ? 0 : best;
    s->dist[slot] = best < 0 ? 0 : s->row[best];
    s->count = count;
}

void learn_all(state_t *s, const uint32_t *coarse, const uint32_t *fine, const int16_t *x, const int16_t *y,
               int64_t *f, int64_t *status, int samples)
{
    for (int m = 0; m < samples; m++, x += D) {
        const int count = s->count;
        int slot = count, twin = -1, saturated = 0;
        int64_t acc = 0;

        for (int i = 0; i < count; i++) {
            s->row[i] = distance(s->v[i], x);
            twin = s->row[i] == 0 ? i : twin;
        }
        if (twin < 0 && count == N) {
            slot = closest(s);
            saturated = project(s, slot, coarse, fine);
            forget(s, slot);
        }
        for (int i = 0; i < count; i++) {
            acc += (s->alpha[i] * kernel(s->row[i], coarse, fine)) >> MAC_SHIFT;
        }
        const int64_t whole = half_up(acc, F_SHIFT);
        f[m] = fit(whole);
        const int64_t step = half_up((((int64_t)y[m] * Y_GAIN) - f[m]) * ETA, ETA_SHIFT);
        const int64_t alpha = step + (twin < 0 ? 0 : s->alpha[twin]);
        if (twin >= 0) {
            s->alpha[twin] = (int32_t)fit(alpha);
        } else {
            insert(s, slot, x, (int32_t)fit(alpha), count < N ? count + 1 : N);
        }
        saturated |= f[m] != whole || fit(alpha) != alpha;
        status[m] = saturated ? 1 : 0;
    }
}
