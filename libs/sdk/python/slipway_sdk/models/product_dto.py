from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.pricing_dto import PricingDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="ProductDto")


@_attrs_define
class ProductDto:
    """
    Attributes:
        context_length (int | None):
        created_at (datetime.datetime):
        description (None | str):
        display_name (str):
        id (str):  Example: prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5.
        max_output_tokens (int | None):
        modalities (list[str]):
        pricing (None | PricingDto):
        slug (str):
        state (str): One of `draft`, `active`, `deprecated`, `retired`.
        supported_parameters (list[str]):
        updated_at (datetime.datetime):
        warnings (list[WarningDto] | Unset):
    """

    context_length: int | None
    created_at: datetime.datetime
    description: None | str
    display_name: str
    id: str
    max_output_tokens: int | None
    modalities: list[str]
    pricing: None | PricingDto
    slug: str
    state: str
    supported_parameters: list[str]
    updated_at: datetime.datetime
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.pricing_dto import PricingDto

        context_length: int | None
        context_length = self.context_length

        created_at = self.created_at.isoformat()

        description: None | str
        description = self.description

        display_name = self.display_name

        id = self.id

        max_output_tokens: int | None
        max_output_tokens = self.max_output_tokens

        modalities = self.modalities

        pricing: dict[str, Any] | None
        if isinstance(self.pricing, PricingDto):
            pricing = self.pricing.to_dict()
        else:
            pricing = self.pricing

        slug = self.slug

        state = self.state

        supported_parameters = self.supported_parameters

        updated_at = self.updated_at.isoformat()

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
                "context_length": context_length,
                "created_at": created_at,
                "description": description,
                "display_name": display_name,
                "id": id,
                "max_output_tokens": max_output_tokens,
                "modalities": modalities,
                "pricing": pricing,
                "slug": slug,
                "state": state,
                "supported_parameters": supported_parameters,
                "updated_at": updated_at,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.pricing_dto import PricingDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)

        def _parse_context_length(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        context_length = _parse_context_length(d.pop("context_length"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        display_name = d.pop("display_name")

        id = d.pop("id")

        def _parse_max_output_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_output_tokens = _parse_max_output_tokens(d.pop("max_output_tokens"))

        modalities = cast(list[str], d.pop("modalities"))

        def _parse_pricing(data: object) -> None | PricingDto:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                pricing_type_0 = PricingDto.from_dict(data)

                return pricing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PricingDto, data)

        pricing = _parse_pricing(d.pop("pricing"))

        slug = d.pop("slug")

        state = d.pop("state")

        supported_parameters = cast(list[str], d.pop("supported_parameters"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        product_dto = cls(
            context_length=context_length,
            created_at=created_at,
            description=description,
            display_name=display_name,
            id=id,
            max_output_tokens=max_output_tokens,
            modalities=modalities,
            pricing=pricing,
            slug=slug,
            state=state,
            supported_parameters=supported_parameters,
            updated_at=updated_at,
            warnings=warnings,
        )

        product_dto.additional_properties = d
        return product_dto

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
