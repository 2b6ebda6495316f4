from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.new_owner_dto import NewOwnerDto


T = TypeVar("T", bound="CreateTenantDto")


@_attrs_define
class CreateTenantDto:
    """
    Attributes:
        name (str): Unique, in whatever case; neither begins nor ends with white space, and is in Unicode form NFKC
            without invisible characters. Slugs of the tenant begin with it. It cannot be changed. Example: acme.
        external_organization_ids (list[str] | Unset): The organizations (`org_id` in the hosted provider's tokens)
            whose users the tenant may let in. One that no tenant has is the operator tenant's; one that several have, each
            of them may map. `[]` unless given. Example: ['org_01'].
        owner (NewOwnerDto | Unset):
    """

    name: str
    external_organization_ids: list[str] | Unset = UNSET
    owner: NewOwnerDto | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        external_organization_ids: list[str] | Unset = UNSET
        if not isinstance(self.external_organization_ids, Unset):
            external_organization_ids = self.external_organization_ids

        owner: dict[str, Any] | Unset = UNSET
        if not isinstance(self.owner, Unset):
            owner = self.owner.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
            }
        )
        if external_organization_ids is not UNSET:
            field_dict["external_organization_ids"] = external_organization_ids
        if owner is not UNSET:
            field_dict["owner"] = owner

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.new_owner_dto import NewOwnerDto

        d = dict(src_dict)
        name = d.pop("name")

        external_organization_ids = cast(list[str], d.pop("external_organization_ids", UNSET))

        _owner = d.pop("owner", UNSET)
        owner: NewOwnerDto | Unset
        if isinstance(_owner, Unset):
            owner = UNSET
        else:
            owner = NewOwnerDto.from_dict(_owner)

        create_tenant_dto = cls(
            name=name,
            external_organization_ids=external_organization_ids,
            owner=owner,
        )

        create_tenant_dto.additional_properties = d
        return create_tenant_dto

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
