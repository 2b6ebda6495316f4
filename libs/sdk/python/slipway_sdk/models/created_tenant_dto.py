from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="CreatedTenantDto")


@_attrs_define
class CreatedTenantDto:
    """
    Attributes:
        id (str):
        name (str):
        token (str): The tenant's first admin token. Shown once.
        warnings (list[WarningDto] | Unset):
    """

    id: str
    name: str
    token: str
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        token = self.token

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
                "id": id,
                "name": name,
                "token": token,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        token = d.pop("token")

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        created_tenant_dto = cls(
            id=id,
            name=name,
            token=token,
            warnings=warnings,
        )

        created_tenant_dto.additional_properties = d
        return created_tenant_dto

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
