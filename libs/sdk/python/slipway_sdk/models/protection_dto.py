from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ProtectionDto")


@_attrs_define
class ProtectionDto:
    """
    Attributes:
        deletion (bool | Unset): Whether DELETE answers 409 `deployment_protected`. `false` unless given.
        rollouts (str | Unset): `approved_plan`: a rollout without the `plan_id` of an approved plan answers 409
            `plan_required`. One of `any`, `approved_plan`. `"any"` unless given.
    """

    deletion: bool | Unset = UNSET
    rollouts: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        deletion = self.deletion

        rollouts = self.rollouts

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if deletion is not UNSET:
            field_dict["deletion"] = deletion
        if rollouts is not UNSET:
            field_dict["rollouts"] = rollouts

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        deletion = d.pop("deletion", UNSET)

        rollouts = d.pop("rollouts", UNSET)

        protection_dto = cls(
            deletion=deletion,
            rollouts=rollouts,
        )

        protection_dto.additional_properties = d
        return protection_dto

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
