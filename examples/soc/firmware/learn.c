/* Learn samples as they arrive, save the state, reset the core, restore it, and predict. */
#include "inputs.h"
#include "online_learner_regs.h"
#include "platform.h"

#define FRAME KC_CORE_IRQ_STATUS_FRAME_MASK
#define STATE KC_CORE_IRQ_STATUS_STATE_MASK

static const kc_core_t *learner;

/* Send one sample, with its target to learn from it; print the answer. */
static void process(const uint32_t *sample, size_t beats, uint32_t learn)
{
    uint32_t answer[2], user;
    size_t count;

    soc_expect(kc_core_load(learner, ONLINE_LEARNER_S_AXIS_X, sample, beats, learn), KC_CORE_OK, 3);
    soc_expect((int32_t)soc_wait(SOC_LEARNER, FRAME), (int32_t)FRAME, 4);
    soc_expect(kc_core_read(learner, ONLINE_LEARNER_M_AXIS_F, answer, 2, &count, &user), KC_CORE_OK, 5);
    soc_print(learn != 0u ? "learned" : "f", answer, count);
    soc_print("status", &user, 1);
}

int main(void)
{
    static const uint32_t plan_hash[8] = ONLINE_LEARNER_PLAN_HASH;
    static uint32_t model[STATE_BEATS], slots[STATE_BEATS];
    uint32_t user;
    size_t models, slot_beats, k;

    learner = soc_open(SOC_LEARNER, ONLINE_LEARNER_TYPE, ONLINE_LEARNER_ABI, plan_hash);
    for (k = 0; k < LEARNED; k++) {
        process(samples[k], SAMPLE_BEATS, 1u);
    }
    kc_core_command(learner, ONLINE_LEARNER_READ_MODEL);
    soc_expect((int32_t)soc_wait(SOC_LEARNER, STATE), (int32_t)STATE, 11);
    soc_expect(kc_core_read(learner, ONLINE_LEARNER_M_AXIS_STATE, model, STATE_BEATS, &models, &user), KC_CORE_OK, 6);
    soc_print("model", model, models);
    kc_core_command(learner, ONLINE_LEARNER_READ_SLOTS);
    soc_expect((int32_t)soc_wait(SOC_LEARNER, STATE), (int32_t)STATE, 12);
    soc_expect(kc_core_read(learner, ONLINE_LEARNER_M_AXIS_STATE, slots, STATE_BEATS, &slot_beats, &user), KC_CORE_OK,
               7);
    soc_print("slots", slots, slot_beats);

    soc_expect(kc_core_reset(learner, 1000u), KC_CORE_OK, 8);
    process(samples[LEARNED], SAMPLE_BEATS - 1u, 0u);   /* it has forgotten everything */
    soc_expect(kc_core_load(learner, ONLINE_LEARNER_S_AXIS_STATE, model, models, 0u), KC_CORE_OK, 9);
    soc_expect(kc_core_load(learner, ONLINE_LEARNER_S_AXIS_STATE, slots, slot_beats, 1u), KC_CORE_OK, 10);
    for (k = LEARNED; k < SAMPLES; k++) {
        process(samples[k], SAMPLE_BEATS - 1u, 0u);
    }
    return 0;
}
