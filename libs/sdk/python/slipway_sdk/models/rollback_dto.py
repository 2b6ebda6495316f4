from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="RollbackDto")


@_attrs_define
class RollbackDto:
    """
    Attributes:
        on_active_operation (str | Unset): What becomes of a rollout that is running. One of `supersede`, `fail`.
            `"supersede"` unless given.
        reason (str | Unset):
        to_revision (str | Unset): Id, number or name; where absent the last good revision that was fully active before.
            Out of a rollout: the one that was active when it began or, if that has no ready instance, the last good one
            before. `result.because` says which
    """

    on_active_operation: str | Unset = UNSET
    reason: str | Unset = UNSET
    to_revision: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        on_active_operation = self.on_active_operation

        reason = self.reason

        to_revision = self.to_revision

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if on_active_operation is not UNSET:
            field_dict["on_active_operation"] = on_active_operation
        if reason is not UNSET:
            field_dict["reason"] = reason
        if to_revision is not UNSET:
            field_dict["to_revision"] = to_revision

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        on_active_operation = d.pop("on_active_operation", UNSET)

        reason = d.pop("reason", UNSET)

        to_revision = d.pop("to_revision", UNSET)

        rollback_dto = cls(
            on_active_operation=on_active_operation,
            reason=reason,
            to_revision=to_revision,
        )

        rollback_dto.additional_properties = d
        return rollback_dto

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
