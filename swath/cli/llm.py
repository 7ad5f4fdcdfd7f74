"""The command `swath llm check`."""

from __future__ import annotations

from dataclasses import asdict

import click

from swath.cli.printing import json_line
from swath.trace.wording import harmless

SAID = {True: "yes", False: "no", None: "-"}


@click.group()
def llm() -> None:
    """Look at the language model that is configured."""


@llm.command()
@click.option("--model", metavar="NAME", help="Language model, or a .gguf file.")
@click.option("--base-url", metavar="URL", help="OpenAI-compatible server that has the model.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(model: str | None, base_url: str | None, as_json: bool) -> int:
    """Find out what a model can do and how it is best asked; later questions are asked in that way.

    \b
    swath llm check --model qwen2.5-coder:7b --base-url http://localhost:11434/v1

    Exit status: 0 the model answers; 1 it does not; 2 none is named.
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"
    from swath.agent.llm.check import check as check_model
    from swath.agent.llm.planner import model_settings
    from swath.agent.llm.remembered import remember
    from swath.agent.planner import PlannerOptions

    found = model_settings(PlannerOptions(model, base_url))
    report = check_model(found, lambda what: click.echo(f"... {what}", err=True))
    if as_json:
        click.echo(json_line({"model": found.model, **asdict(report)}))
    else:
        for finding in report.findings:
            click.echo(harmless(f"{finding.what:>18}  {SAID[finding.works]:<4} {finding.detail}").rstrip())
    if report.manner is None:
        return 1
    path = remember(found, report.manner)
    if not as_json:
        click.echo(f"{found.model} is asked in the way {report.manner.way} with the {report.manner.profile} prompt.")
        click.echo(f"This is kept in {path}; way and profile under [llm] in the configuration file win over it.")
    return 0
