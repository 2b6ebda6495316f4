from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.actor_dto import ActorDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="ConsoleAccessDto")


@_attrs_define
class ConsoleAccessDto:
    """
    Attributes:
        access (bool):
        created_at (datetime.datetime):
        display_name (None | str):
        external_organization_id (str):
        external_user_id (str):
        id (str):
        provider (str):
        scopes (list[str]): Empty where access is revoked.
        status (str): One of `active`, `revoked`.
        updated_at (datetime.datetime):
        updated_by (ActorDto):
        warnings (list[WarningDto] | Unset):
    """

    access: bool
    created_at: datetime.datetime
    display_name: None | str
    external_organization_id: str
    external_user_id: str
    id: str
    provider: str
    scopes: list[str]
    status: str
    updated_at: datetime.datetime
    updated_by: ActorDto
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        access = self.access

        created_at = self.created_at.isoformat()

        display_name: None | str
        display_name = self.display_name

        external_organization_id = self.external_organization_id

        external_user_id = self.external_user_id

        id = self.id

        provider = self.provider

        scopes = self.scopes

        status = self.status

        updated_at = self.updated_at.isoformat()

        updated_by = self.updated_by.to_dict()

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
                "access": access,
                "created_at": created_at,
                "display_name": display_name,
                "external_organization_id": external_organization_id,
                "external_user_id": external_user_id,
                "id": id,
                "provider": provider,
                "scopes": scopes,
                "status": status,
                "updated_at": updated_at,
                "updated_by": updated_by,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.actor_dto import ActorDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        access = d.pop("access")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_display_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        display_name = _parse_display_name(d.pop("display_name"))

        external_organization_id = d.pop("external_organization_id")

        external_user_id = d.pop("external_user_id")

        id = d.pop("id")

        provider = d.pop("provider")

        scopes = cast(list[str], d.pop("scopes"))

        status = d.pop("status")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        updated_by = ActorDto.from_dict(d.pop("updated_by"))

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        console_access_dto = cls(
            access=access,
            created_at=created_at,
            display_name=display_name,
            external_organization_id=external_organization_id,
            external_user_id=external_user_id,
            id=id,
            provider=provider,
            scopes=scopes,
            status=status,
            updated_at=updated_at,
            updated_by=updated_by,
            warnings=warnings,
        )

        console_access_dto.additional_properties = d
        return console_access_dto

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
