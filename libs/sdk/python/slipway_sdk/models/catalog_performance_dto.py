from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.latency_dto import LatencyDto


T = TypeVar("T", bound="CatalogPerformanceDto")


@_attrs_define
class CatalogPerformanceDto:
    """
    Attributes:
        output_tokens_per_s (float | None): Median of a request
        ttft_ms (LatencyDto | None): Time to the first token of streamed requests; null where none was streamed.
    """

    output_tokens_per_s: float | None
    ttft_ms: LatencyDto | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.latency_dto import LatencyDto

        output_tokens_per_s: float | None
        output_tokens_per_s = self.output_tokens_per_s

        ttft_ms: dict[str, Any] | None
        if isinstance(self.ttft_ms, LatencyDto):
            ttft_ms = self.ttft_ms.to_dict()
        else:
            ttft_ms = self.ttft_ms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "output_tokens_per_s": output_tokens_per_s,
                "ttft_ms": ttft_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.latency_dto import LatencyDto

        d = dict(src_dict)

        def _parse_output_tokens_per_s(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        output_tokens_per_s = _parse_output_tokens_per_s(d.pop("output_tokens_per_s"))

        def _parse_ttft_ms(data: object) -> LatencyDto | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ttft_ms_type_0 = LatencyDto.from_dict(data)

                return ttft_ms_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LatencyDto | None, data)

        ttft_ms = _parse_ttft_ms(d.pop("ttft_ms"))

        catalog_performance_dto = cls(
            output_tokens_per_s=output_tokens_per_s,
            ttft_ms=ttft_ms,
        )

        catalog_performance_dto.additional_properties = d
        return catalog_performance_dto

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
