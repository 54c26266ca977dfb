#!/bin/bash
# One plan by many machines that share a folder: sbatch --export=ALL,PLAN=study.toml,STORE=/scratch/me/runs slurm-array.sh
# Every element of the array runs the same command. Each takes the next job that nobody is at, and ends when all are done.
# An element that is killed or runs out of time leaves the job it was at; the others, or the same sbatch again, go on.
#SBATCH --job-name=shoal
#SBATCH --array=0-15
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=08:00:00
#SBATCH --requeue
#SBATCH --output=shoal-%A-%a.log
set -eu
export OMP_NUM_THREADS="${SLURM_CPUS_PER_TASK:-1}"
echo "element ${SLURM_ARRAY_TASK_ID:-0} on $(hostname)"
exec shoal run "${PLAN:-plan.toml}" --into "${STORE:-runs}" --on here
