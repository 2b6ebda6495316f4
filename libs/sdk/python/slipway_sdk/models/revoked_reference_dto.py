from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RevokedReferenceDto")


@_attrs_define
class RevokedReferenceDto:
    """
    Attributes:
        external_sandbox_changed (bool): Always false: revoking sends nothing to the external sandbox.
        id (str):
        revoked_at (datetime.datetime): Of the first revocation.
        state (str): One of `revoked`.
    """

    external_sandbox_changed: bool
    id: str
    revoked_at: datetime.datetime
    state: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        external_sandbox_changed = self.external_sandbox_changed

        id = self.id

        revoked_at = self.revoked_at.isoformat()

        state = self.state

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "external_sandbox_changed": external_sandbox_changed,
                "id": id,
                "revoked_at": revoked_at,
                "state": state,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        external_sandbox_changed = d.pop("external_sandbox_changed")

        id = d.pop("id")

        revoked_at = datetime.datetime.fromisoformat(d.pop("revoked_at"))

        state = d.pop("state")

        revoked_reference_dto = cls(
            external_sandbox_changed=external_sandbox_changed,
            id=id,
            revoked_at=revoked_at,
            state=state,
        )

        revoked_reference_dto.additional_properties = d
        return revoked_reference_dto

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
