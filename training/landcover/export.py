"""Write trained weights as ONNX with 16-bit weights: `python -m training.landcover.export WEIGHTS OUT.onnx`."""

from __future__ import annotations

import argparse
import copy
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from training.landcover.network import LandCover

SMALLEST_VALUES = 64
"""Shorter tensors (biases, scalars) stay 32-bit: they weigh nothing."""


def main() -> None:
    """Parse and export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    network = LandCover()
    network.load_state_dict(torch.load(given.weights, map_location="cpu", weights_only=True))
    export(network, given.out)


def export(network: LandCover, out: Path, offsets: NDArray[np.float64] | None = None) -> None:
    """Write a network whose sides may vary; batch normalisation is folded into the convolutions.

    Args:
        network: trained.
        out: the file.
        offsets: added to the logits of the classes, by way of the last layer's bias; none by default.
    """
    network = copy.deepcopy(network).eval()
    if offsets is not None and network.heads.bias is not None:
        with torch.no_grad():
            network.heads.bias[: len(offsets)] += torch.from_numpy(offsets).float()
    example = torch.zeros(1, 3, 64, 96)
    torch.onnx.export(
        network,
        (example,),
        str(out),
        input_names=["image"],
        output_names=["logits"],
        opset_version=17,
        dynamic_axes={"image": {2: "rows", 3: "columns"}, "logits": {2: "rows", 3: "columns"}},
        dynamo=False,
    )
    model = halved(onnx.load(out))
    onnx.checker.check_model(model)
    onnx.save(model, out)


def halved(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model with its large weights stored in 16 bits and cast back when it is loaded."""
    graph = model.graph
    casts = []
    for weight in list(graph.initializer):
        values = numpy_helper.to_array(weight)
        if values.dtype != np.float32 or values.size < SMALLEST_VALUES:
            continue
        name = f"{weight.name}_16"
        graph.initializer.remove(weight)
        graph.initializer.append(numpy_helper.from_array(values.astype(np.float16), name))
        casts.append(helper.make_node("Cast", [name], [weight.name], to=TensorProto.FLOAT))
    for cast in reversed(casts):
        graph.node.insert(0, cast)
    return model


if __name__ == "__main__":
    main()
