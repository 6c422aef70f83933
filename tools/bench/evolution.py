#!/usr/bin/env python3
"""Generations a second of NEAT beside neat-python, on XOR; run by hand, not in CI:

    python3 tools/bench/evolution.py [--rounds N]

needs NumPy, neat-python 2.0.0 and build/release/libloom.so (or LOOM_LIBRARY). Both evolve 150
genomes, evaluation included, on one thread:

* `goal`: until a fitness of 3.9, Loom by its defaults and neat-python by its XOR example;
* `defaults`: 100 generations, neat-python with Loom's rates of new nodes and edges, so that genomes
  grow alike;
* `example`: 100 generations, Loom with the rates, distance, elites and stagnation of that example.

A round is 4 seeds of neat-python and 100 of Loom, one behind the other. Figures are by the CPU time
of the process, without the first genomes; the ratio is that of all rounds.
"""
import argparse
import os
import pathlib
import random
import sys
import tempfile
import time

import neat

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("LOOM_LIBRARY", str(ROOT / "build" / "release" / "libloom.so"))
sys.path.insert(0, str(ROOT / "bindings" / "python"))
import welvet  # noqa: E402

EXAMPLE = {"add_node": 0.2, "remove_node": 0.2, "add_edge": 0.5, "remove_edge": 0.5}
# Generations, the goal; options of Loom, rates of neat-python.
CASES = {
    "goal": (300, 3.9, {}, EXAMPLE),
    "defaults": (100, 5, {},
                 {"add_node": 0.03, "remove_node": 0, "add_edge": 0.05, "remove_edge": 0}),
    "example": (100, 5, {**EXAMPLE, "small_genome": 0, "weight_difference": 0.5, "elites": 2,
                         "stagnation": 20, "mutate_only": 0, "interspecies": 0}, EXAMPLE)}
ROWS = (((0.0, 0.0), 0.0), ((0.0, 1.0), 1.0), ((1.0, 0.0), 1.0), ((1.0, 1.0), 0.0))


def attribute(name, start, spread, power, change, replace, low=-30.0, high=30.0):
    """The keys of a number that genes of neat-python have."""
    keys = {"init_mean": start, "init_stdev": spread, "init_type": "gaussian", "max_value": high,
            "min_value": low, "mutate_power": power, "mutate_rate": change,
            "replace_rate": replace}
    return {name + "_" + key: value for key, value in keys.items()}


def config_text(goal, rates):
    """The XOR example of neat-python with another goal and other rates."""
    genome = {
        "activation_default": "sigmoid", "activation_mutate_rate": 0.0,
        "activation_options": "sigmoid", "aggregation_default": "sum",
        "aggregation_mutate_rate": 0.0, "aggregation_options": "sum",
        "compatibility_disjoint_coefficient": 1.0, "compatibility_excess_coefficient": 1.0,
        "compatibility_weight_coefficient": 0.5, "compatibility_include_node_genes": True,
        "compatibility_enable_penalty": 1.0, "conn_add_prob": rates["add_edge"],
        "conn_delete_prob": rates["remove_edge"], "node_add_prob": rates["add_node"],
        "node_delete_prob": rates["remove_node"], "enabled_default": True,
        "enabled_mutate_rate": 0.01, "enabled_rate_to_true_add": 0.0,
        "enabled_rate_to_false_add": 0.0, "feed_forward": True, "initial_connection": "full",
        "num_hidden": 0, "num_inputs": 2, "num_outputs": 1, "single_structural_mutation": False,
        "structural_mutation_surer": "default",
        **attribute("bias", 0.0, 1.0, 0.5, 0.7, 0.1),
        **attribute("weight", 0.0, 1.0, 0.5, 0.8, 0.1),
        **attribute("response", 1.0, 0.0, 0.0, 0.0, 0.0),
        **attribute("time_constant", 1.0, 0.0, 0.0, 0.0, 0.0, 0.1, 10.0)}
    sections = {
        "NEAT": {"fitness_criterion": "max", "fitness_threshold": goal, "pop_size": 150,
                 "reset_on_extinction": True, "no_fitness_termination": False},
        "DefaultGenome": genome,
        "DefaultSpeciesSet": {"compatibility_threshold": 3.0},
        "DefaultStagnation": {"species_fitness_func": "max", "max_stagnation": 20,
                              "species_elitism": 2},
        "DefaultReproduction": {"elitism": 2, "survival_threshold": 0.2, "min_species_size": 2}}
    lines = []
    for name, keys in sections.items():
        lines += ["[%s]" % name] + ["%s = %s" % item for item in keys.items()]
    return "\n".join(lines) + "\n"


def evaluate(genomes, config):
    for _, genome in genomes:
        net = neat.nn.FeedForwardNetwork.create(genome, config)
        genome.fitness = 4.0 - sum((net.activate(x)[0] - y) ** 2 for x, y in ROWS)


def peer_run(path, most, seeds):
    """Generations and seconds."""
    generations, seconds = 0, 0.0
    for seed in seeds:
        random.seed(seed)
        config = neat.Config(neat.DefaultGenome, neat.DefaultReproduction, neat.DefaultSpeciesSet,
                             neat.DefaultStagnation, path)
        population = neat.Population(config)
        begun = time.process_time()
        best = population.run(evaluate, most)
        seconds += time.process_time() - begun
        # It counts on at the end of a generation, but for that which reaches the goal.
        generations += population.generation + (best.fitness >= config.fitness_threshold)
    return generations, seconds


def loom_run(options, most, seeds):
    generations, seconds = 0, 0.0
    for seed in seeds:
        population = welvet.Population("xor", seed=seed, threads=1, **options)
        begun = time.process_time()
        info = population.run(most)
        seconds += time.process_time() - begun
        generations += info["generation"] + 1
    return generations, seconds


def compare(name, rounds, path):
    most, goal, options, rates = CASES[name]
    pathlib.Path(path).write_text(config_text(goal, rates), encoding="utf-8")
    totals = [0, 0.0, 0, 0.0]
    for r in range(rounds):
        for at, run in ((0, peer_run(path, most, range(4 * r, 4 * r + 4))),
                        (2, loom_run({"goal": goal, **options}, most,
                                     range(100 * r, 100 * r + 100)))):
            totals[at] += run[0]
            totals[at + 1] += run[1]
        peer, loom = totals[0] / totals[1], totals[2] / totals[3]
        print("%s, %d rounds: neat-python %.0f generations/s, Loom %.0f: %.0f times" % (
            name, r + 1, peer, loom, loom / peer), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            compare(name, args.rounds, os.path.join(folder, "xor.cfg"))


if __name__ == "__main__":
    main()
