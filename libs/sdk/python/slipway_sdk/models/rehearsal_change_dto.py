from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.rehearsal_change_dto_value_type_3 import RehearsalChangeDtoValueType3


T = TypeVar("T", bound="RehearsalChangeDto")


@_attrs_define
class RehearsalChangeDto:
    """
    Attributes:
        op (str): One of `add`, `remove`, `replace`, `move`, `copy`, `test`.
        path (str):
        value (bool | float | list[Any] | None | RehearsalChangeDtoValueType3 | str | Unset):
    """

    op: str
    path: str
    value: bool | float | list[Any] | None | RehearsalChangeDtoValueType3 | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.rehearsal_change_dto_value_type_3 import RehearsalChangeDtoValueType3

        op = self.op

        path = self.path

        value: bool | dict[str, Any] | float | list[Any] | None | str | Unset
        if isinstance(self.value, Unset):
            value = UNSET
        elif isinstance(self.value, RehearsalChangeDtoValueType3):
            value = self.value.to_dict()
        elif isinstance(self.value, list):
            value = self.value

        else:
            value = self.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "op": op,
                "path": path,
            }
        )
        if value is not UNSET:
            field_dict["value"] = value

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rehearsal_change_dto_value_type_3 import RehearsalChangeDtoValueType3

        d = dict(src_dict)
        op = d.pop("op")

        path = d.pop("path")

        def _parse_value(data: object) -> bool | float | list[Any] | None | RehearsalChangeDtoValueType3 | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                value_type_3 = RehearsalChangeDtoValueType3.from_dict(data)

                return value_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                value_type_4 = cast(list[Any], data)

                return value_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | float | list[Any] | None | RehearsalChangeDtoValueType3 | str | Unset, data)

        value = _parse_value(d.pop("value", UNSET))

        rehearsal_change_dto = cls(
            op=op,
            path=path,
            value=value,
        )

        rehearsal_change_dto.additional_properties = d
        return rehearsal_change_dto

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
