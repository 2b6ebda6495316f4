from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PublicationBindingDto")


@_attrs_define
class PublicationBindingDto:
    """
    Attributes:
        binding_id (str):
        priority (int | Unset): Lower is preferred; a higher one serves while no binding below it can. `0` unless given.
        weight (int | Unset): Share among the bindings of the same priority; 0 = dark. `1` unless given.
    """

    binding_id: str
    priority: int | Unset = UNSET
    weight: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        binding_id = self.binding_id

        priority = self.priority

        weight = self.weight

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "binding_id": binding_id,
            }
        )
        if priority is not UNSET:
            field_dict["priority"] = priority
        if weight is not UNSET:
            field_dict["weight"] = weight

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        binding_id = d.pop("binding_id")

        priority = d.pop("priority", UNSET)

        weight = d.pop("weight", UNSET)

        publication_binding_dto = cls(
            binding_id=binding_id,
            priority=priority,
            weight=weight,
        )

        publication_binding_dto.additional_properties = d
        return publication_binding_dto

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
