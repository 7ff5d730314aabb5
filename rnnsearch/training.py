"""The training loop: `fit`, which reads as the order of events, `train_one` and `validate`."""

import math
import time

import numpy as np

from rnnsearch import metrics
from rnnsearch.batches import Plan, plan_epoch
from rnnsearch.errors import Interrupted, UserError
from rnnsearch.progress import end_reason, judge, share_done
from rnnsearch.run import Run
from rnnsearch.saving import save
from rnnsearch.scoring import score_pairs
from rnnsearch.update import Update, finish, load, start_update


def fit(run: Run) -> str:
    """Train until a limit is reached; return the reason.

    Every way out saves: the end, SIGTERM and Ctrl-C. A validation belongs to the state after its
    update, so a run that is stopped in it makes it first when it goes on.

    Raises:
        Interrupted: after saving.
        UserError: the training diverged or the disk refuses (status 1).
    """
    progress, trainer = run.progress, run.config.trainer
    run.saved = progress.update
    plan = _plan(run)
    if progress.batch >= len(plan):
        raise UserError(
            f"{run.run_dir}/checkpoints/step-{progress.update}/state.json: not of this run: "
            f"batch {progress.batch}, but a pass over the data has {len(plan)}",
            status=1,
        )
    run.log.start_bar(share_done(progress, trainer, batches=len(plan)))
    try:
        while True:
            start = time.perf_counter()
            regular = _due(run, trainer.valid_every)
            if regular and progress.validated < progress.update:
                validate(run, regular=True)
            progress.elapsed_seconds += time.perf_counter() - start
            _agree(run)
            if regular or (trainer.save_every is not None and _due(run, trainer.save_every)):
                save(run)
            reason = end_reason(progress, trainer)
            if reason is not None:
                break
            plan = train_one(run, plan)
        if progress.validated < progress.update:
            validate(run, regular=False)
        save(run)
    except Interrupted:
        save(run)
        run.log.say(f"stopped at update {progress.update}; the same command goes on from here")
        raise
    return reason


def _agree(run: Run) -> None:
    """Let all processes have the time of the first one, and stop when one was told to.

    Raises:
        Interrupted: a signal came, here or elsewhere.
    """
    told = run.world.numbers([run.progress.elapsed_seconds, run.interrupts.received or 0])
    run.progress.elapsed_seconds = told[0][0]
    signal = max(int(received) for _, received in told)
    if signal:
        raise Interrupted(signal)


def _due(run: Run, every: int | None) -> bool:
    """Return whether the present update stands on the grid of `every` updates; None: each pass."""
    progress = run.progress
    if progress.update == 0:
        return False
    return progress.batch == 0 if every is None else progress.update % every == 0


def _plan(run: Run) -> Plan:
    trainer = run.config.trainer
    return plan_epoch(
        run.train.source_lengths, run.train.target_lengths,
        seed=run.config.seed, epoch=run.progress.epoch, batch_sentences=trainer.batch_sentences,
        batch_tokens=trainer.batch_tokens, sort_window=trainer.sort_window,
    )  # fmt: skip


def train_one(run: Run, plan: Plan) -> Plan:
    """Make the next update of the plan and count it; return the plan for the one after."""
    progress, trainer = run.progress, run.config.trainer
    start = time.perf_counter()
    loaded = load(run, plan[progress.batch]) if run.ahead is None else run.ahead
    started = start_update(run, loaded, batches=len(plan))
    progress.update += 1
    progress.batch += 1
    if progress.batch >= len(plan):
        progress.epoch += 1
        progress.batch = 0
        plan = _plan(run)
    run.ahead = load(run, plan[progress.batch])  # while a GPU is still at work
    done = finish(started)
    seconds = time.perf_counter() - start
    progress.elapsed_seconds += seconds
    _check_finite(run, done)
    if not done.skipped:
        run.meter.add(done.nll, done.tokens, seconds)
    run.log.advance(
        share_done(progress, trainer, batches=len(plan)),
        {
            "update": str(progress.update),
            "epoch": f"{progress.epoch + progress.batch / len(plan):.2f}",
            "loss": f"{run.meter.loss:.3f}",
            "ppl": f"{metrics.perplexity(run.meter.loss):.2f}",
            "tokens/s": f"{run.meter.tokens_per_second:.0f}",
        },
    )
    if progress.update % trainer.log_every == 0:
        _record_training(run, done)
    return plan


def _check_finite(run: Run, done: Update) -> None:
    """Count skipped updates; end the run when too many follow one another.

    Raises:
        UserError: `trainer.max_bad_updates` in a row (status 1).
    """
    progress, most = run.progress, run.config.trainer.max_bad_updates
    if not done.skipped:
        progress.bad_updates = 0
        return
    progress.bad_updates += 1
    what = f"loss {done.nll:g}, gradient norm {done.gradient_norm:g}"
    run.log.warn(f"update {progress.update} skipped: not finite ({what})")
    if progress.bad_updates >= most:
        raise UserError(
            f"update {progress.update}: loss or gradient not finite in "
            f"trainer.max_bad_updates={most} updates in a row; lower "
            f"optimizer.lr={run.config.optimizer.lr:g} or trainer.clip_norm and start again from "
            "an earlier checkpoint",
            status=1,
        )


def _record_training(run: Run, done: Update) -> None:
    progress, meter = run.progress, run.meter
    run.log.record(
        {
            "kind": "train",
            "update": progress.update,
            "epoch": progress.epoch,
            "loss": meter.loss if meter.tokens else math.nan,
            "learning_rate": done.learning_rate,
            "gradient_norm": done.gradient_norm,
            "tokens_per_second": round(meter.tokens_per_second, 1),
            "elapsed_seconds": round(progress.elapsed_seconds, 3),
        }
    )
    meter.reset()


def validate(run: Run, *, regular: bool) -> None:
    """Translate the validation set with the real search and score text against raw text.

    Args:
        run: the training; its progress is changed.
        regular: whether patience and schedule count it.
    """
    progress, trainer, valid = run.progress, run.config.trainer, run.valid
    shares = run.world.gather(_validate_share(run))
    if None in shares:
        _agree(run)
    log_p, hypotheses = np.empty(len(valid.sources)), [""] * len(valid.sources)
    for rank, (scores_of_share, lines) in enumerate(shares):
        log_p[rank :: len(shares)] = scores_of_share
        hypotheses[rank :: len(shares)] = lines
    pieces = int(valid.encoded.target_lengths.sum()) + len(valid.encoded)
    loss = -float(log_p.sum()) / pieces
    bleu = metrics.bleu(hypotheses, valid.references)
    chrf = metrics.chrf(hypotheses, valid.references)
    scores = {"loss": loss, "bleu": bleu.score, "chrf": chrf.score}
    best = judge(
        progress, scores[trainer.metric] if math.isfinite(loss) else math.nan,
        trainer=trainer, scheduler=run.config.scheduler, regular=regular,
    )  # fmt: skip
    run.scored = True
    run.log.record(
        {
            "kind": "validation", "update": progress.update, "epoch": progress.epoch, "loss": loss,
            "perplexity": metrics.perplexity(loss), "bleu": bleu.score, "chrf": chrf.score,
            "best": best, "elapsed_seconds": round(progress.elapsed_seconds, 3),
        }
    )  # fmt: skip
    run.log.say(
        f"validation at update {progress.update} (epoch {progress.epoch}): loss {loss:.4f}, "
        f"perplexity {metrics.perplexity(loss):.2f}, BLEU {bleu.score:.2f}, chrF {chrf.score:.2f}"
        f"{', best so far' if best else ''}"
    )
    sample = progress.update % len(hypotheses)
    run.log.sample(valid.sources[sample], hypotheses[sample], update=progress.update)


def _validate_share(run: Run) -> tuple[list[float], list[str]] | None:
    """Return log p and the translation of each pair of this process's share; None if stopped."""
    share = run.world.share(np.arange(len(run.valid.sources), dtype=np.int32))
    sources, targets = run.valid.encoded.pairs(share)
    lines = [run.valid.sources[int(index)] for index in share]
    try:
        with run.log.progress_bar(2 * len(lines), description="validation", unit="line") as bar:

            def step(done: int) -> None:
                bar.update(done)
                run.interrupts.check()

            log_p = score_pairs(run.model, sources, targets, progress=step)
            found = run.translator.translate(lines, alignments=False, progress=step)
    except Interrupted:  # the others wait for an answer all the same
        return None
    return log_p.tolist(), [translation.text for translation in found]
