"""The choice of default cases: every value occurs in one, and every test runs, unless it is a campaign."""

from covering import cover, features, variants

from kerncast.sim.spec import Spec

from .test_closing_table import run

#: Tests of which only a campaign runs a case: long searches, and soaks.
CAMPAIGNS = {
    "e2e/test_examples.py::test_the_digits_are_classified",
    "e2e/test_packaging.py::test_the_wheel_installed_from_the_index_runs_the_demo",
    "fuzz/test_c_targets.py::test_a_hundred_million_saved_states_misbehave_nowhere",
    "fuzz/test_parsers.py::test_ten_million_inputs_of_a_parser_end_with_a_code",
    "hil/test_bisection.py::test_bisection_names_nothing_on_an_emulator_but_a_planted_fault",
    "hil/test_cost_pages.py::test_a_prediction_costs_as_much_as_the_page_states",
    "hil/test_fuzz.py::test_a_hundred_million_frames_find_nothing",
    "hil/test_fuzz.py::test_ten_million_inputs_that_follow_the_coverage_find_nothing",
    "hil/test_interrupts.py::test_a_prediction_after_every_instruction_sees_the_old_or_the_new_model",
    "hil/test_matrix.py::test_the_whole_matrix_gives_the_model_s_values",
    "hil/test_soak.py::test_over_a_bad_line_a_hundred_thousand_frames_do_no_harm",
    "hil/test_under_load.py::test_two_hundred_runs_under_load_pass_every_one",
    "hls/test_cores.py::test_long_runs_of_the_model_s_values",
    "hls/test_soak.py::test_200_000_values_of_each_core_equal_the_model",
    "host/test_class_learner.py::test_every_emulated_core_learns_classes",
    "host/test_class_trainer.py::test_every_emulated_core_trains_classes",
    "host/test_classes.py::test_every_emulated_core_answers_outputs_label_and_margin",
    "host/test_misra.py::test_no_deviation_from_misra_but_those_listed",
    "host/test_power_cuts.py::test_no_power_cut_of_a_million_loses_a_state",
    "host/test_random_specs.py::test_random_specs_agree_at_every_level_and_under_sanitizers",
    "host/test_several_signals.py::test_every_emulated_core_trains_signals",
    "host/test_trained_elsewhere.py::test_a_trace_of_the_c_is_that_of_the_model",
    "host/test_trained_elsewhere.py::test_every_emulated_core_answers_the_same_values",
    "proofs/test_proofs.py::test_every_mutant_of_a_long_function_is_refuted",
    "proofs/test_proofs.py::test_mutants_called_equivalent_are_not_refuted",
    "property/test_banded.py::test_a_second_model_computes_the_same_values_of_many_more",
    "property/test_banded.py::test_ten_thousand_answers_for_run_time_lambdas_lie_within_bounds",
    "property/test_banded.py::test_ten_thousand_answers_lie_within_their_bounds",
    "property/test_geometric.py::test_ten_thousand_answers_lie_within_their_bounds",
    "property/test_int64.py::test_no_intermediate_leaves_int64_in_many_more_plans",
    "property/test_no_silent_failure.py::test_no_answer_of_ten_thousand_is_worse_than_its_bound",
    "property/test_second_model.py::test_both_models_agree_on_many_more_cases",
    "property/test_second_model.py::test_both_models_step_over_many_more_singular_blocks",
    "regress/test_no_index_out_of_bounds.py::test_no_compiled_index_is_out_of_bounds",
    "rtl/test_banded.py::test_long_random_runs_equal_the_model",
    "rtl/test_estimate.py::test_every_core_with_fewest_lanes_reaches_100_mhz_as_the_page_says",
    "rtl/test_estimate.py::test_lanes_use_more_dsp_blocks_and_fewer_clocks",
    "rtl/test_learner.py::test_long_random_runs_equal_the_model",
    "rtl/test_predictor.py::test_long_random_runs_equal_the_model",
    "rtl/test_rtl_page.py::test_the_figures_are_what_the_simulation_shows",
    "rtl/test_run_time_lambda.py::test_long_random_runs_of_any_lambda_equal_the_model",
    "rtl/test_soak.py::test_200_000_values_equal_the_model_among_stalls_resets_and_bad_frames",
    "rtl/test_soak.py::test_5_000_values_in_icarus_equal_the_model_among_stalls_and_resets",
    "rtl/test_soak.py::test_a_fault_of_the_soft_reset_is_found",
    "rtl/test_solver.py::test_long_random_runs_equal_the_model",
    "rtl/test_testbench.py::test_every_example_passes_the_testbenches_of_its_folder",
    "unit/pages/test_figures.py::test_the_picture_of_the_demo_is_that_of_today",
}

PRODUCT = """
import pytest

@pytest.mark.covering
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_words(word, compiler): pass

@pytest.mark.covering(("compiler", "word"))
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_pairs(word, compiler): pass

@pytest.mark.covering(name=lambda name: set(name))
@pytest.mark.parametrize("name", ["ab", "a", "b", pytest.param("c", marks=pytest.mark.campaign)])
def test_names(name): pass
"""


def test_every_test_runs_a_case_by_default_unless_it_is_a_campaign(default_and_campaign_cases):
    """Of the tests that were collected, which are all in a run of the whole suite."""
    silent = {name for name, (default, _) in default_and_campaign_cases.items() if default == 0}
    assert silent == {name for name in CAMPAIGNS if name in default_and_campaign_cases}
    files = {name.partition("::")[0] for name in default_and_campaign_cases}
    gone = {name for name in CAMPAIGNS if name.partition("::")[0] in files} - set(default_and_campaign_cases)
    assert gone == set()


def test_every_feature_is_in_a_chosen_case():
    cases = [frozenset({("word", word), ("compiler", compiler), ("level", level)})
             for word in (16, 24, 32) for compiler in ("gcc", "clang") for level in range(5)]
    chosen = cover(cases)
    assert len(chosen) == 5 and chosen == sorted(set(chosen))
    assert set().union(*(cases[i] for i in chosen)) == set().union(*cases)


def test_the_values_of_a_parameter_take_turns():
    cases = [frozenset({("name", name), ("compiler", compiler)}) for name in range(6) for compiler in "ab"]
    chosen = [cases[i] for i in cover(cases)]
    assert [sum(("compiler", compiler) in case for case in chosen) for compiler in "ab"] == [3, 3]


def test_nothing_is_chosen_of_no_cases_and_one_of_cases_without_features():
    assert cover([]) == []
    assert cover([frozenset(), frozenset()]) == [0]  # a test never loses its last case


def test_parameters_count_by_value_by_function_and_jointly():
    assert features({"name": "ab", "word": 16}, [("name", "word")], {"name": set}) == {
        ("name", "a"), ("name", "b"), ("word", "16"), (("name", "word"), ("'ab'", "16"))}


def test_a_spec_counts_by_its_choices_and_by_the_numbers_it_gives():
    def spec(**online):
        return Spec(model={"name": "m", "algorithm": "kernel_lms"}, input={"word": "s12f0"},
                    output={"word": "u6f0"}, kernel={"sigma": 9.0}, numbers={"word": 24},
                    online={"budget": 4, "eta": 0.5, **online})

    plain = variants(spec())
    assert {"input.word: s16", "output.word: u8", "numbers.word: 24", "online.reduction: fklms"} <= plain
    assert variants(spec(eta=0.25)) == plain
    assert "online.quantise: given" in variants(spec(quantise=0.5)) - plain


def test_the_default_run_leaves_all_other_cases_to_campaigns(tmp_path):
    told = run(tmp_path, PRODUCT, "-v").stdout
    assert told.count("PASSED") == 3 + 6 + 1
    assert "test_names[ab]" in told
    assert "tests that run in campaigns only: 6;" in told


def test_a_name_that_is_no_parameter_is_refused(tmp_path):
    done = run(tmp_path, PRODUCT.replace("name=lambda", "nome=lambda"))
    assert done.returncode != 0
    assert "covering names ['nome'], which are not among its parameters ['name']" in done.stdout + done.stderr
