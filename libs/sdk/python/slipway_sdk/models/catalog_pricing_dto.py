from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CatalogPricingDto")


@_attrs_define
class CatalogPricingDto:
    """
    Attributes:
        currency (str):  Example: USD.
        input_per_mtok (float):
        output_per_mtok (float):
    """

    currency: str
    input_per_mtok: float
    output_per_mtok: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        currency = self.currency

        input_per_mtok = self.input_per_mtok

        output_per_mtok = self.output_per_mtok

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "currency": currency,
                "input_per_mtok": input_per_mtok,
                "output_per_mtok": output_per_mtok,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        currency = d.pop("currency")

        input_per_mtok = d.pop("input_per_mtok")

        output_per_mtok = d.pop("output_per_mtok")

        catalog_pricing_dto = cls(
            currency=currency,
            input_per_mtok=input_per_mtok,
            output_per_mtok=output_per_mtok,
        )

        catalog_pricing_dto.additional_properties = d
        return catalog_pricing_dto

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
