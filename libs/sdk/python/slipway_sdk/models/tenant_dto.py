from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="TenantDto")


@_attrs_define
class TenantDto:
    """
    Attributes:
        created_at (datetime.datetime):
        external_organization_ids (list[str]): The organizations (`org_id` in the hosted provider's tokens) whose users
            the tenant may let in. One that no tenant has is the operator tenant's; one that several have, each of them may
            map.
        id (str):
        name (str):
        warnings (list[WarningDto] | Unset):
    """

    created_at: datetime.datetime
    external_organization_ids: list[str]
    id: str
    name: str
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        external_organization_ids = self.external_organization_ids

        id = self.id

        name = self.name

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
                "created_at": created_at,
                "external_organization_ids": external_organization_ids,
                "id": id,
                "name": name,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        external_organization_ids = cast(list[str], d.pop("external_organization_ids"))

        id = d.pop("id")

        name = d.pop("name")

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        tenant_dto = cls(
            created_at=created_at,
            external_organization_ids=external_organization_ids,
            id=id,
            name=name,
            warnings=warnings,
        )

        tenant_dto.additional_properties = d
        return tenant_dto

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
