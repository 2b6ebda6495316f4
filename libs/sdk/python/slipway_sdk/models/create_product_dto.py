from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.pricing_dto import PricingDto


T = TypeVar("T", bound="CreateProductDto")


@_attrs_define
class CreateProductDto:
    """
    Attributes:
        slug (str): `vendor/model`: what clients send as `model`. The vendor is the name of the tenant, except for the
            operator tenant. Example: acme/chat.
        context_length (int | Unset):
        description (str | Unset):
        display_name (str | Unset): The slug unless given.
        max_output_tokens (int | Unset):
        modalities (list[str] | Unset): `["text"]` unless given.
        pricing (PricingDto | Unset):
        supported_parameters (list[str] | Unset): `[]` unless given. Example: ['temperature', 'tools'].
    """

    slug: str
    context_length: int | Unset = UNSET
    description: str | Unset = UNSET
    display_name: str | Unset = UNSET
    max_output_tokens: int | Unset = UNSET
    modalities: list[str] | Unset = UNSET
    pricing: PricingDto | Unset = UNSET
    supported_parameters: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        slug = self.slug

        context_length = self.context_length

        description = self.description

        display_name = self.display_name

        max_output_tokens = self.max_output_tokens

        modalities: list[str] | Unset = UNSET
        if not isinstance(self.modalities, Unset):
            modalities = self.modalities

        pricing: dict[str, Any] | Unset = UNSET
        if not isinstance(self.pricing, Unset):
            pricing = self.pricing.to_dict()

        supported_parameters: list[str] | Unset = UNSET
        if not isinstance(self.supported_parameters, Unset):
            supported_parameters = self.supported_parameters

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "slug": slug,
            }
        )
        if context_length is not UNSET:
            field_dict["context_length"] = context_length
        if description is not UNSET:
            field_dict["description"] = description
        if display_name is not UNSET:
            field_dict["display_name"] = display_name
        if max_output_tokens is not UNSET:
            field_dict["max_output_tokens"] = max_output_tokens
        if modalities is not UNSET:
            field_dict["modalities"] = modalities
        if pricing is not UNSET:
            field_dict["pricing"] = pricing
        if supported_parameters is not UNSET:
            field_dict["supported_parameters"] = supported_parameters

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.pricing_dto import PricingDto

        d = dict(src_dict)
        slug = d.pop("slug")

        context_length = d.pop("context_length", UNSET)

        description = d.pop("description", UNSET)

        display_name = d.pop("display_name", UNSET)

        max_output_tokens = d.pop("max_output_tokens", UNSET)

        modalities = cast(list[str], d.pop("modalities", UNSET))

        _pricing = d.pop("pricing", UNSET)
        pricing: PricingDto | Unset
        if isinstance(_pricing, Unset):
            pricing = UNSET
        else:
            pricing = PricingDto.from_dict(_pricing)

        supported_parameters = cast(list[str], d.pop("supported_parameters", UNSET))

        create_product_dto = cls(
            slug=slug,
            context_length=context_length,
            description=description,
            display_name=display_name,
            max_output_tokens=max_output_tokens,
            modalities=modalities,
            pricing=pricing,
            supported_parameters=supported_parameters,
        )

        create_product_dto.additional_properties = d
        return create_product_dto

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
