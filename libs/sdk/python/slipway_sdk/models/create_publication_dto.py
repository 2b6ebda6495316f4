from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.audience_dto import AudienceDto
    from ..models.publication_binding_dto import PublicationBindingDto


T = TypeVar("T", bound="CreatePublicationDto")


@_attrs_define
class CreatePublicationDto:
    """
    Attributes:
        bindings (list[PublicationBindingDto]):
        product_id (str):
        audience (AudienceDto | Unset):
        notes (str | Unset):
    """

    bindings: list[PublicationBindingDto]
    product_id: str
    audience: AudienceDto | Unset = UNSET
    notes: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bindings = []
        for bindings_item_data in self.bindings:
            bindings_item = bindings_item_data.to_dict()
            bindings.append(bindings_item)

        product_id = self.product_id

        audience: dict[str, Any] | Unset = UNSET
        if not isinstance(self.audience, Unset):
            audience = self.audience.to_dict()

        notes = self.notes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bindings": bindings,
                "product_id": product_id,
            }
        )
        if audience is not UNSET:
            field_dict["audience"] = audience
        if notes is not UNSET:
            field_dict["notes"] = notes

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.audience_dto import AudienceDto
        from ..models.publication_binding_dto import PublicationBindingDto

        d = dict(src_dict)
        bindings = []
        _bindings = d.pop("bindings")
        for bindings_item_data in _bindings:
            bindings_item = PublicationBindingDto.from_dict(bindings_item_data)

            bindings.append(bindings_item)

        product_id = d.pop("product_id")

        _audience = d.pop("audience", UNSET)
        audience: AudienceDto | Unset
        if isinstance(_audience, Unset):
            audience = UNSET
        else:
            audience = AudienceDto.from_dict(_audience)

        notes = d.pop("notes", UNSET)

        create_publication_dto = cls(
            bindings=bindings,
            product_id=product_id,
            audience=audience,
            notes=notes,
        )

        create_publication_dto.additional_properties = d
        return create_publication_dto

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
