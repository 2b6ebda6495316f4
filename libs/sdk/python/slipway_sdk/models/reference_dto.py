from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="ReferenceDto")


@_attrs_define
class ReferenceDto:
    """
    Attributes:
        base_url (str):
        created_at (datetime.datetime):
        egress_allowed (bool): Whether the operator allows to send files to base_url; where not, each file ends as
            failed.
        external_id (str):
        id (str):
        provider (str): One of `e2b`, `daytona`, `custom`.
        revoked_at (datetime.datetime | None):
        revoked_by (None | str): Type and id of the actor. Example: token:tok_boot.
        sandbox_id (str): The sandbox that was made with the reference.
        state (str): One of `active`, `revoked`.
        warnings (list[WarningDto] | Unset):
    """

    base_url: str
    created_at: datetime.datetime
    egress_allowed: bool
    external_id: str
    id: str
    provider: str
    revoked_at: datetime.datetime | None
    revoked_by: None | str
    sandbox_id: str
    state: str
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        base_url = self.base_url

        created_at = self.created_at.isoformat()

        egress_allowed = self.egress_allowed

        external_id = self.external_id

        id = self.id

        provider = self.provider

        revoked_at: None | str
        if isinstance(self.revoked_at, datetime.datetime):
            revoked_at = self.revoked_at.isoformat()
        else:
            revoked_at = self.revoked_at

        revoked_by: None | str
        revoked_by = self.revoked_by

        sandbox_id = self.sandbox_id

        state = self.state

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "base_url": base_url,
                "created_at": created_at,
                "egress_allowed": egress_allowed,
                "external_id": external_id,
                "id": id,
                "provider": provider,
                "revoked_at": revoked_at,
                "revoked_by": revoked_by,
                "sandbox_id": sandbox_id,
                "state": state,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        base_url = d.pop("base_url")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        egress_allowed = d.pop("egress_allowed")

        external_id = d.pop("external_id")

        id = d.pop("id")

        provider = d.pop("provider")

        def _parse_revoked_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                revoked_at_type_0 = datetime.datetime.fromisoformat(data)

                return revoked_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        revoked_at = _parse_revoked_at(d.pop("revoked_at"))

        def _parse_revoked_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        revoked_by = _parse_revoked_by(d.pop("revoked_by"))

        sandbox_id = d.pop("sandbox_id")

        state = d.pop("state")

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        reference_dto = cls(
            base_url=base_url,
            created_at=created_at,
            egress_allowed=egress_allowed,
            external_id=external_id,
            id=id,
            provider=provider,
            revoked_at=revoked_at,
            revoked_by=revoked_by,
            sandbox_id=sandbox_id,
            state=state,
            warnings=warnings,
        )

        reference_dto.additional_properties = d
        return reference_dto

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
