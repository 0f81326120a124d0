"""What Python asks of a number or a sequence, asked of tensors."""

import copy
import pickle

import numpy as np
import pytest

import castwise as cw
from castwise.errors import UsageError


def test_divmod_is_quotient_and_remainder():
    t = cw.asarray([7, -7], dtype="int32", dialect="numpy")
    quotient, remainder = divmod(t, 2)
    assert (quotient.tolist(), remainder.tolist()) == ([3, -4], [1, 1])
    quotient, remainder = divmod(9, t)
    assert (quotient.tolist(), remainder.tolist()) == ([1, -2], [2, -5])
    assert quotient.dtype.name == "int32"
    for pair in ((t, "a"), ("a", t)):
        with pytest.raises(TypeError, match="unsupported operand"):
            divmod(*pair)


def test_a_single_number_is_formatted_as_one():
    assert f"{cw.asarray(2.5):.2f}" == "2.50"
    assert f"{cw.asarray(7, dtype='int4'):03d}" == "007"
    assert f"{cw.asarray([1])}" == str(cw.asarray([1]))
    with pytest.raises(TypeError, match=r"'.2f' formats one number, not a tensor of shape \(1,\)"):
        f"{cw.asarray([2.5]):.2f}"


def test_an_index_is_told_by_its_notation():
    with pytest.raises(TypeError, match=r"not float64\[\]"):
        [1, 2][cw.asarray(1.0)]


def test_item_is_of_one_element():
    assert cw.asarray([[3]]).item() == 3
    with pytest.raises(UsageError, match=r"but shape \(2,\) has 2"):
        cw.asarray([1, 2]).item()


@pytest.mark.parametrize("name", ["concat", "stack", "mse_loss", "real_div"])
def test_a_missing_method_names_the_way_to_it(name):
    for t in (cw.asarray([1, 2], dialect="torch"), cw.Variable([1, 2])):
        with pytest.raises(
            AttributeError, match=rf"cw\.apply\('{name}', x\), or a function of castwise"
        ):
            getattr(t, name)
        assert not hasattr(t, name)


def test_nothing_stands_between_a_tensor_and_its_attributes():
    assert not hasattr(cw.Tensor, "__getattr__")  # which slows down each of them


def test_copies_and_pickles_need_no_attribute_beyond_their_own():
    for t in (cw.asarray([1, 2], dialect="torch"), cw.Variable([1, 2])):
        for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
            assert type(other) is type(t)
            assert repr(other) == repr(t)


@pytest.mark.parametrize("thing", ["a", "int32[3]", {1, 2}, None])
def test_what_is_no_operand_is_told_so(thing):
    t = cw.asarray([1, 2])
    missing = "add takes 2 operands, not 1"  # what None means
    told = missing if thing is None else "an op takes tensors, numbers and arrays, not a"
    with pytest.raises(UsageError, match=told):
        cw.apply("add", t, thing)
    with pytest.raises(UsageError, match=r"convert it to a tensor, cw\.asarray\(x\)"):
        cw.Variable([1, 2]).assign(thing)
    with pytest.raises(UsageError, match=r"not a list: convert it to a tensor"):
        cw.Variable([1, 2]).assign([3, 4])
    assert np.asarray(t).tolist() == [1, 2]
