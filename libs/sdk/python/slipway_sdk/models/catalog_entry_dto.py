from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.catalog_endpoint_dto import CatalogEndpointDto
    from ..models.catalog_performance_dto import CatalogPerformanceDto
    from ..models.catalog_pricing_dto import CatalogPricingDto


T = TypeVar("T", bound="CatalogEntryDto")


@_attrs_define
class CatalogEntryDto:
    """
    Attributes:
        availability (str): Measured. One of `available`, `degraded`, `unavailable`.
        context_length (int | None):
        created (int): Seconds since 1970
        description (None | str):
        endpoint (CatalogEndpointDto):
        id (str):  Example: prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5.
        max_output_tokens (int | None):
        name (str):
        object_ (str): One of `model`.
        performance (CatalogPerformanceDto | None): Measured in the last 15 minutes; null where nobody asked.
        pricing (CatalogPricingDto | None):
        slug (str):  Example: acme/chat.
        supported_parameters (list[str]):
    """

    availability: str
    context_length: int | None
    created: int
    description: None | str
    endpoint: CatalogEndpointDto
    id: str
    max_output_tokens: int | None
    name: str
    object_: str
    performance: CatalogPerformanceDto | None
    pricing: CatalogPricingDto | None
    slug: str
    supported_parameters: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.catalog_performance_dto import CatalogPerformanceDto
        from ..models.catalog_pricing_dto import CatalogPricingDto

        availability = self.availability

        context_length: int | None
        context_length = self.context_length

        created = self.created

        description: None | str
        description = self.description

        endpoint = self.endpoint.to_dict()

        id = self.id

        max_output_tokens: int | None
        max_output_tokens = self.max_output_tokens

        name = self.name

        object_ = self.object_

        performance: dict[str, Any] | None
        if isinstance(self.performance, CatalogPerformanceDto):
            performance = self.performance.to_dict()
        else:
            performance = self.performance

        pricing: dict[str, Any] | None
        if isinstance(self.pricing, CatalogPricingDto):
            pricing = self.pricing.to_dict()
        else:
            pricing = self.pricing

        slug = self.slug

        supported_parameters = self.supported_parameters

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "availability": availability,
                "context_length": context_length,
                "created": created,
                "description": description,
                "endpoint": endpoint,
                "id": id,
                "max_output_tokens": max_output_tokens,
                "name": name,
                "object": object_,
                "performance": performance,
                "pricing": pricing,
                "slug": slug,
                "supported_parameters": supported_parameters,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.catalog_endpoint_dto import CatalogEndpointDto
        from ..models.catalog_performance_dto import CatalogPerformanceDto
        from ..models.catalog_pricing_dto import CatalogPricingDto

        d = dict(src_dict)
        availability = d.pop("availability")

        def _parse_context_length(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        context_length = _parse_context_length(d.pop("context_length"))

        created = d.pop("created")

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        endpoint = CatalogEndpointDto.from_dict(d.pop("endpoint"))

        id = d.pop("id")

        def _parse_max_output_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_output_tokens = _parse_max_output_tokens(d.pop("max_output_tokens"))

        name = d.pop("name")

        object_ = d.pop("object")

        def _parse_performance(data: object) -> CatalogPerformanceDto | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                performance_type_0 = CatalogPerformanceDto.from_dict(data)

                return performance_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CatalogPerformanceDto | None, data)

        performance = _parse_performance(d.pop("performance"))

        def _parse_pricing(data: object) -> CatalogPricingDto | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                pricing_type_0 = CatalogPricingDto.from_dict(data)

                return pricing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CatalogPricingDto | None, data)

        pricing = _parse_pricing(d.pop("pricing"))

        slug = d.pop("slug")

        supported_parameters = cast(list[str], d.pop("supported_parameters"))

        catalog_entry_dto = cls(
            availability=availability,
            context_length=context_length,
            created=created,
            description=description,
            endpoint=endpoint,
            id=id,
            max_output_tokens=max_output_tokens,
            name=name,
            object_=object_,
            performance=performance,
            pricing=pricing,
            slug=slug,
            supported_parameters=supported_parameters,
        )

        catalog_entry_dto.additional_properties = d
        return catalog_entry_dto

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
