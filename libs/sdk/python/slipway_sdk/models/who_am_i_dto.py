from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.actor_dto import ActorDto
    from ..models.owner_dto import OwnerDto
    from ..models.who_tenant_dto import WhoTenantDto


T = TypeVar("T", bound="WhoAmIDto")


@_attrs_define
class WhoAmIDto:
    """
    Attributes:
        actor (ActorDto):
        owner (OwnerDto):
        scopes (list[str]): All scopes the caller has, included ones too.
        tenant (WhoTenantDto):
    """

    actor: ActorDto
    owner: OwnerDto
    scopes: list[str]
    tenant: WhoTenantDto
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        actor = self.actor.to_dict()

        owner = self.owner.to_dict()

        scopes = self.scopes

        tenant = self.tenant.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "actor": actor,
                "owner": owner,
                "scopes": scopes,
                "tenant": tenant,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.actor_dto import ActorDto
        from ..models.owner_dto import OwnerDto
        from ..models.who_tenant_dto import WhoTenantDto

        d = dict(src_dict)
        actor = ActorDto.from_dict(d.pop("actor"))

        owner = OwnerDto.from_dict(d.pop("owner"))

        scopes = cast(list[str], d.pop("scopes"))

        tenant = WhoTenantDto.from_dict(d.pop("tenant"))

        who_am_i_dto = cls(
            actor=actor,
            owner=owner,
            scopes=scopes,
            tenant=tenant,
        )

        who_am_i_dto.additional_properties = d
        return who_am_i_dto

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
