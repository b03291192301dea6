"""The recipes that start model servers, with programs in place of the servers that write down what they are told."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from experiments.configuration import composed

SERVING = Path(__file__).parents[2] / "experiments/serving"


@pytest.fixture
def programs(tmp_path):
    """A folder of programs that append their name, arguments and cards to a file, and what reads that file."""
    folder = tmp_path / "bin"
    folder.mkdir()
    told = tmp_path / "told"
    for name in ("vllm", "ollama"):
        stay = "[ $1 != serve ] || sleep 60" if name == "ollama" else ""
        (folder / name).write_text(f'#!/bin/sh\necho "$CUDA_VISIBLE_DEVICES: {name} $*" >> {told}\n{stay}\n')
        (folder / name).chmod(0o755)
    return folder, lambda: told.read_text().splitlines() if told.exists() else []


def start(script, folder, **settings):
    environment = os.environ | {"PATH": f"{folder}:/usr/bin:/bin"} | settings
    return subprocess.Popen(
        [SERVING / script],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("script", "settings", "cards", "expected"),
    [
        ("vllm_8b.sh", {}, "0", "serve meta-llama/Llama-3.1-8B-Instruct --port 8000 --seed 0 --max-model-len 8192"),
        (
            "vllm_8b.sh",
            {"GPU": "3", "PORT": "8003", "WINDOW": "4096"},
            "3",
            "--port 8003 --seed 0 --max-model-len 4096",
        ),
        ("vllm_70b.sh", {}, "0,1", "--tensor-parallel-size 2 --kv-cache-dtype fp8 --max-model-len 4096"),
        ("vllm_70b.sh", {"GPUS": "0,1,2"}, "0,1,2", "--pipeline-parallel-size 3 --max-model-len 8192"),
    ],
)
def test_vllm_is_started_for_the_cards(programs, script, settings, cards, expected):
    folder, told = programs
    assert start(script, folder, **settings).wait(10) == 0
    [line] = told()
    assert line.startswith(f"{cards}: vllm serve ")
    assert expected in line


def test_ollama_gets_a_model_with_a_window_and_a_penalty(programs):
    folder, told = programs
    server = start("ollama.sh", folder, SIZE="70b")
    assert server.stdout.readline() == "psi-70b is served at http://127.0.0.1:11434/v1\n"
    os.killpg(server.pid, signal.SIGTERM)
    server.wait(10)
    lines = told()
    assert lines[0] in {"0,1,2: ollama serve", "0,1,2: ollama list"}
    assert "0,1,2: ollama pull llama3.3:70b" in lines
    assert any(line.startswith("0,1,2: ollama create psi-70b -f ") for line in lines)


def test_the_server_ends_with_the_script(programs):
    folder, _ = programs
    script = start("ollama.sh", folder)
    script.stdout.readline()
    children = subprocess.run(["pgrep", "-P", str(script.pid)], capture_output=True, text=True).stdout.split()
    os.kill(script.pid, signal.SIGTERM)
    script.wait(10)
    deadline = time.monotonic() + 5
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert children
    assert not any(Path(f"/proc/{child}").exists() for child in children)


@pytest.mark.parametrize(
    ("script", "settings", "expected"),
    [
        ("vllm_70b.sh", {"GPUS": "0"}, "name two or three cards"),
        ("ollama.sh", {"SIZE": "9b"}, "8b or 70b"),
    ],
)
def test_what_cannot_work_is_refused(programs, script, settings, expected):
    process = start(script, programs[0], **settings)
    assert expected in process.communicate(timeout=10)[1]
    assert process.returncode == 2


@pytest.mark.parametrize("script", ["vllm_8b.sh", "vllm_70b.sh", "ollama.sh"])
def test_a_missing_server_is_named(tmp_path, script):
    process = start(script, tmp_path)
    assert "is not installed here" in process.communicate(timeout=10)[1]
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("llm", "script", "name"),
    [
        ("vllm_8b", "vllm_8b.sh", "{MODEL:-meta-llama/Llama-3.1-8B-Instruct}"),
        ("vllm_70b", "vllm_70b.sh", "{MODEL:-casperhansen/llama-3.3-70b-instruct-awq}"),
        ("ollama_8b", "ollama.sh", "psi-$SIZE"),
        ("ollama_70b", "ollama.sh", "psi-$SIZE"),
    ],
)
def test_configurations_name_the_models_that_are_served(llm, script, name):
    assert name in (SERVING / script).read_text()
    model = composed([f"llm={llm}"]).llm.model
    assert model in name or model == name.replace("$SIZE", llm.removeprefix("ollama_"))
