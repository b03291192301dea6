#!/usr/bin/env bash
# An Ollama server with a model under a name of its own, psi-SIZE, that has a window and a repetition penalty: Ollama takes neither
# from requests in the OpenAI style, and cuts longer prompts without saying so. For llm=ollama_8b and llm=ollama_70b.
# SIZE 8b: one RTX 4090; 70b (4 bits, 43 GB): two or three, over which Ollama spreads it.
# Set by the environment: SIZE (8b), GPUS (0, or 0,1,2), PORT (11434), BASE (the model in Ollama's library), WINDOW (8192),
# PARALLEL (requests at a time; each has a window of its own in memory).
set -euo pipefail
command -v ollama > /dev/null || { echo "ollama is not installed here: see https://ollama.com/download" >&2; exit 1; }

case "${SIZE:=8b}" in
    8b) base=llama3.1:8b gpus=0 window=8192 parallel=4 ;;
    70b) base=llama3.3:70b gpus=0,1,2 window=8192 parallel=2 ;;
    *) echo "SIZE=$SIZE: 8b or 70b" >&2; exit 2 ;;
esac
export CUDA_VISIBLE_DEVICES="${GPUS:-$gpus}" OLLAMA_HOST="127.0.0.1:${PORT:-11434}" OLLAMA_KEEP_ALIVE=-1
export OLLAMA_CONTEXT_LENGTH="${WINDOW:-$window}" OLLAMA_NUM_PARALLEL="${PARALLEL:-$parallel}"

ollama serve &
server=$!
trap 'kill "$server" 2> /dev/null' EXIT
until ollama list > /dev/null 2>&1; do
    kill -0 "$server" 2> /dev/null || { echo "ollama serve has ended; is port ${PORT:-11434} taken?" >&2; exit 1; }
    sleep 1
done

recipe=$(mktemp)
printf 'FROM %s\nPARAMETER num_ctx %s\nPARAMETER repeat_penalty 1.3\n' "${BASE:-$base}" "$OLLAMA_CONTEXT_LENGTH" > "$recipe"
ollama pull "${BASE:-$base}"
ollama create "psi-$SIZE" -f "$recipe"
rm "$recipe"
echo "psi-$SIZE is served at http://$OLLAMA_HOST/v1"
wait "$server"
