#!/usr/bin/env bash
# Llama 3.3 70B in 4 bits (AWQ, 40 GB of weights) on two or three RTX 4090. For llm=vllm_70b.
# Two cards split every layer: 20 GB of weights each, so keys and values get 8 bits and a window of 4,096 tokens.
# Three hold a third of the layers each, since its 8 key-value heads cannot be split by three: keys and values stay in 16 bits.
# Set by the environment: GPUS (0,1), PORT (8000), MODEL, WINDOW.
set -euo pipefail
command -v vllm > /dev/null || { echo "vllm is not installed here: pip install vllm" >&2; exit 1; }

export CUDA_VISIBLE_DEVICES="${GPUS:-0,1}"
IFS=, read -ra cards <<< "$CUDA_VISIBLE_DEVICES"
case ${#cards[@]} in
    2) layout=(--tensor-parallel-size 2 --kv-cache-dtype fp8 --max-model-len "${WINDOW:-4096}" --max-num-seqs 32) ;;
    3) layout=(--pipeline-parallel-size 3 --max-model-len "${WINDOW:-8192}" --max-num-seqs 64) ;;
    *) echo "GPUS=$CUDA_VISIBLE_DEVICES: name two or three cards, such as GPUS=0,1" >&2; exit 2 ;;
esac
exec vllm serve "${MODEL:-casperhansen/llama-3.3-70b-instruct-awq}" --port "${PORT:-8000}" --seed 0 \
    --gpu-memory-utilization 0.95 "${layout[@]}"
