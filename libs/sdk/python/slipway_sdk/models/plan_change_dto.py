from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.plan_change_dto_from_type_0_type_3 import PlanChangeDtoFromType0Type3
    from ..models.plan_change_dto_value_type_0_type_3 import PlanChangeDtoValueType0Type3


T = TypeVar("T", bound="PlanChangeDto")


@_attrs_define
class PlanChangeDto:
    """
    Attributes:
        path (str): JSON Pointer into the spec of the base revision (a dotted path is taken too) Example:
            /scaling/min_replicas.
        from_ (bool | float | list[Any] | None | PlanChangeDtoFromType0Type3 | str | Unset): The value that stands
            there; refused where another does
        op (str | Unset): One of `add`, `remove`, `replace`. `"replace"` unless given.
        rationale (None | str | Unset):
        value (bool | float | list[Any] | None | PlanChangeDtoValueType0Type3 | str | Unset):
    """

    path: str
    from_: bool | float | list[Any] | None | PlanChangeDtoFromType0Type3 | str | Unset = UNSET
    op: str | Unset = UNSET
    rationale: None | str | Unset = UNSET
    value: bool | float | list[Any] | None | PlanChangeDtoValueType0Type3 | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.plan_change_dto_from_type_0_type_3 import PlanChangeDtoFromType0Type3
        from ..models.plan_change_dto_value_type_0_type_3 import PlanChangeDtoValueType0Type3

        path = self.path

        from_: bool | dict[str, Any] | float | list[Any] | None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        elif isinstance(self.from_, PlanChangeDtoFromType0Type3):
            from_ = self.from_.to_dict()
        elif isinstance(self.from_, list):
            from_ = self.from_

        else:
            from_ = self.from_

        op = self.op

        rationale: None | str | Unset
        if isinstance(self.rationale, Unset):
            rationale = UNSET
        else:
            rationale = self.rationale

        value: bool | dict[str, Any] | float | list[Any] | None | str | Unset
        if isinstance(self.value, Unset):
            value = UNSET
        elif isinstance(self.value, PlanChangeDtoValueType0Type3):
            value = self.value.to_dict()
        elif isinstance(self.value, list):
            value = self.value

        else:
            value = self.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "path": path,
            }
        )
        if from_ is not UNSET:
            field_dict["from"] = from_
        if op is not UNSET:
            field_dict["op"] = op
        if rationale is not UNSET:
            field_dict["rationale"] = rationale
        if value is not UNSET:
            field_dict["value"] = value

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.plan_change_dto_from_type_0_type_3 import PlanChangeDtoFromType0Type3
        from ..models.plan_change_dto_value_type_0_type_3 import PlanChangeDtoValueType0Type3

        d = dict(src_dict)
        path = d.pop("path")

        def _parse_from_(data: object) -> bool | float | list[Any] | None | PlanChangeDtoFromType0Type3 | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                from_type_0_type_3 = PlanChangeDtoFromType0Type3.from_dict(data)

                return from_type_0_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                from_type_0_type_4 = cast(list[Any], data)

                return from_type_0_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | float | list[Any] | None | PlanChangeDtoFromType0Type3 | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        op = d.pop("op", UNSET)

        def _parse_rationale(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        rationale = _parse_rationale(d.pop("rationale", UNSET))

        def _parse_value(data: object) -> bool | float | list[Any] | None | PlanChangeDtoValueType0Type3 | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                value_type_0_type_3 = PlanChangeDtoValueType0Type3.from_dict(data)

                return value_type_0_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                value_type_0_type_4 = cast(list[Any], data)

                return value_type_0_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | float | list[Any] | None | PlanChangeDtoValueType0Type3 | str | Unset, data)

        value = _parse_value(d.pop("value", UNSET))

        plan_change_dto = cls(
            path=path,
            from_=from_,
            op=op,
            rationale=rationale,
            value=value,
        )

        plan_change_dto.additional_properties = d
        return plan_change_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
