"""The verb `help`: a verb's help, or a topic."""

from difflib import get_close_matches

import click

from .topics import TOPICS


@click.command("help")
@click.argument("topic", required=False)
@click.pass_context
def help_command(ctx: click.Context, topic: str | None) -> None:
    """Explain a verb, or a topic: models, settings, rules, files.

    \b
    Examples:
      shoal help models
      shoal help compare
    """
    from ..protocols import PROTOCOLS

    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    if topic is None:
        click.echo(root.get_help())
    elif topic in TOPICS:
        click.echo(TOPICS[topic].strip())
    elif topic in root.command.commands:
        verb = root.command.commands[topic]
        click.echo(click.Context(verb, info_name=topic, parent=root).get_help())
    else:
        known = [*TOPICS, *root.command.commands]
        near = get_close_matches(topic, known, 1)
        fix = f"try: shoal help {near[0]}" if near else f"topics: {', '.join(TOPICS)}; or any verb"
        if topic in PROTOCOLS:
            fix = f"it is a protocol; try: shoal list settings {topic}, or shoal help try"
        raise click.UsageError(f"no topic or verb {topic!r}; {fix}")
