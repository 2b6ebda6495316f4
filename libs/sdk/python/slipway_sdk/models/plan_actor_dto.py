from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.owner_dto import OwnerDto


T = TypeVar("T", bound="PlanActorDto")


@_attrs_define
class PlanActorDto:
    """
    Attributes:
        id (str):
        type_ (str): `token`, `user`, or `system` for a part of the product Example: token.
        owner (None | OwnerDto | Unset): Who answers for it; null for a part of the product, absent where a plan is
            older than owners
    """

    id: str
    type_: str
    owner: None | OwnerDto | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.owner_dto import OwnerDto

        id = self.id

        type_ = self.type_

        owner: dict[str, Any] | None | Unset
        if isinstance(self.owner, Unset):
            owner = UNSET
        elif isinstance(self.owner, OwnerDto):
            owner = self.owner.to_dict()
        else:
            owner = self.owner

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "type": type_,
            }
        )
        if owner is not UNSET:
            field_dict["owner"] = owner

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.owner_dto import OwnerDto

        d = dict(src_dict)
        id = d.pop("id")

        type_ = d.pop("type")

        def _parse_owner(data: object) -> None | OwnerDto | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                owner_type_0 = OwnerDto.from_dict(data)

                return owner_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OwnerDto | Unset, data)

        owner = _parse_owner(d.pop("owner", UNSET))

        plan_actor_dto = cls(
            id=id,
            type_=type_,
            owner=owner,
        )

        plan_actor_dto.additional_properties = d
        return plan_actor_dto

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
