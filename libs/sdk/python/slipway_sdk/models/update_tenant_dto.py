from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="UpdateTenantDto")


@_attrs_define
class UpdateTenantDto:
    """
    Attributes:
        external_organization_ids (list[str]): The organizations (`org_id` in the hosted provider's tokens) whose users
            the tenant may let in. One that no tenant has is the operator tenant's; one that several have, each of them may
            map. The list takes the place of the one before; an organization that is left out lets nobody in from the next
            request on. Example: ['org_01'].
    """

    external_organization_ids: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        external_organization_ids = self.external_organization_ids

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "external_organization_ids": external_organization_ids,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        external_organization_ids = cast(list[str], d.pop("external_organization_ids"))

        update_tenant_dto = cls(
            external_organization_ids=external_organization_ids,
        )

        update_tenant_dto.additional_properties = d
        return update_tenant_dto

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
