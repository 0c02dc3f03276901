"""Renders a Helm chart: with Helm where there is one, else by the few words of its template language that ours uses.

A word that isn't among them is an error, so that a template can't outgrow this unseen."""

import os
import pathlib
import re
import shutil
import subprocess

import yaml

ACTION = re.compile(r"(?:[ \t\n]*(?={{-))?{{-? *(.*?) *-?}}")


def render(chart, values, release="ctkit", namespace="ctkit"):
    """The objects of the chart with these values, over its own. Helm isn't asked."""
    own = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
    about = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
    scope = {"Values": _over(own, values), "Release": {"Name": release, "Namespace": namespace},
             "Chart": {"AppVersion": about["appVersion"], "Name": about["name"]}}
    found = []
    for template in sorted((chart / "templates").glob("*.yaml")):
        found += filter(None, yaml.safe_load_all(_render(template.read_text(encoding="utf-8"), scope)))
    return found


def helm():
    return shutil.which("helm")


def render_with_helm(chart, values, folder, release="ctkit", namespace="ctkit"):
    given = pathlib.Path(folder, "values.yaml")
    given.write_text(yaml.safe_dump(values), encoding="utf-8")
    done = subprocess.run([helm(), "template", release, chart, "--namespace", namespace, "--values", given],
                          capture_output=True, text=True, check=True)
    return list(filter(None, yaml.safe_load_all(done.stdout)))


def _over(own, given):
    if not (isinstance(own, dict) and isinstance(given, dict)):
        return given
    unknown = given.keys() - own.keys()
    if unknown:
        raise KeyError(f"the chart has no value {sorted(unknown)}")
    return {**own, **{key: _over(own[key], value) for key, value in given.items()}}


def _render(text, scope):
    output, at, shown = [], 0, [True]
    for action in ACTION.finditer(text):
        if all(shown):
            output.append(text[at:action.start()])
        at = action.end()
        words = action[1]
        if words.startswith("if "):
            shown.append(all(shown) and bool(_value(words[3:], scope)))
        elif words == "end":
            shown.pop()
        elif all(shown):
            output.append(_text(_value(words, scope)))
    if len(shown) != 1:
        raise ValueError("an if without end")
    return "".join(output) + text[at:]


def _value(pipeline, scope):
    first, *calls = [part.split() for part in pipeline.split(" | ")]
    value = _to_yaml(_field(first[1], scope)) if first[0] == "toYaml" else _field(first[0], scope)
    for name, *arguments in calls:
        if name == "quote":
            value = '"' + _text(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
        elif name == "default":
            value = value or _field(arguments[0], scope)
        elif name == "nindent":
            pad = "\n" + " " * int(arguments[0])
            value = pad + value.replace("\n", pad)
        elif name in ("base", "dir"):
            value = {"base": os.path.basename, "dir": os.path.dirname}[name](value)
        else:
            raise ValueError(f"no function {name} here")
    return value


def _field(path, scope):
    value = scope
    for part in path.removeprefix(".").split("."):
        value = value[part]
    return value


def _to_yaml(value):
    return yaml.safe_dump(value, default_flow_style=False).rstrip("\n")


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)
