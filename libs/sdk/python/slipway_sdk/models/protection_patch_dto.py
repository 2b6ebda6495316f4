from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ProtectionPatchDto")


@_attrs_define
class ProtectionPatchDto:
    """
    Attributes:
        deletion (bool | None | Unset): Whether DELETE answers 409 `deployment_protected`
        rollouts (None | str | Unset): `approved_plan`: a rollout without the `plan_id` of an approved plan answers 409
            `plan_required`. One of `any`, `approved_plan`, `null`.
    """

    deletion: bool | None | Unset = UNSET
    rollouts: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        deletion: bool | None | Unset
        if isinstance(self.deletion, Unset):
            deletion = UNSET
        else:
            deletion = self.deletion

        rollouts: None | str | Unset
        if isinstance(self.rollouts, Unset):
            rollouts = UNSET
        else:
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

        def _parse_deletion(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        deletion = _parse_deletion(d.pop("deletion", UNSET))

        def _parse_rollouts(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        rollouts = _parse_rollouts(d.pop("rollouts", UNSET))

        protection_patch_dto = cls(
            deletion=deletion,
            rollouts=rollouts,
        )

        protection_patch_dto.additional_properties = d
        return protection_patch_dto

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
