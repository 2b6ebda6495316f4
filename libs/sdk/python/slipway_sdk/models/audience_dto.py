from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AudienceDto")


@_attrs_define
class AudienceDto:
    """
    Attributes:
        tenants (list[str] | Unset): Ids of further tenants; only with visibility `tenant`, and for the operator tenant
            alone. `[]` unless given.
        visibility (str | Unset): `tenant`: the publishing tenant and those listed; `shared`: every tenant, for the
            operator tenant alone. One of `tenant`, `shared`. `"tenant"` unless given.
    """

    tenants: list[str] | Unset = UNSET
    visibility: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tenants: list[str] | Unset = UNSET
        if not isinstance(self.tenants, Unset):
            tenants = self.tenants

        visibility = self.visibility

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if tenants is not UNSET:
            field_dict["tenants"] = tenants
        if visibility is not UNSET:
            field_dict["visibility"] = visibility

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        tenants = cast(list[str], d.pop("tenants", UNSET))

        visibility = d.pop("visibility", UNSET)

        audience_dto = cls(
            tenants=tenants,
            visibility=visibility,
        )

        audience_dto.additional_properties = d
        return audience_dto

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
