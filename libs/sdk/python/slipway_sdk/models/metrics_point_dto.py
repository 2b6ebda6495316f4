from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.attempt_counts_dto import AttemptCountsDto
    from ..models.distribution_dto import DistributionDto
    from ..models.rate_dto import RateDto


T = TypeVar("T", bound="MetricsPointDto")


@_attrs_define
class MetricsPointDto:
    """
    Attributes:
        at (datetime.datetime): When it begins
        attempts (AttemptCountsDto):
        e2e_latency_ms (DistributionDto):
        error_rate (RateDto):
        instances (int | None): Ready instances that a gateway chose among, the most; null: not known
        itl_ms (DistributionDto):
        output_tokens_per_s (DistributionDto):
        requests_per_s (float): Requests as their clients saw them, those that they left not counted
        seconds (int): How much of its time the records cover so far
        streamed (int): Of `ok`, those that were streams
        tokens_in (int):
        tokens_out (int):
        tokens_out_per_s (float): Of all requests together; of each by itself: `output_tokens_per_s`
        ttft_ms (DistributionDto):
        upstream_fault_rate (RateDto):
    """

    at: datetime.datetime
    attempts: AttemptCountsDto
    e2e_latency_ms: DistributionDto
    error_rate: RateDto
    instances: int | None
    itl_ms: DistributionDto
    output_tokens_per_s: DistributionDto
    requests_per_s: float
    seconds: int
    streamed: int
    tokens_in: int
    tokens_out: int
    tokens_out_per_s: float
    ttft_ms: DistributionDto
    upstream_fault_rate: RateDto
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        attempts = self.attempts.to_dict()

        e2e_latency_ms = self.e2e_latency_ms.to_dict()

        error_rate = self.error_rate.to_dict()

        instances: int | None
        instances = self.instances

        itl_ms = self.itl_ms.to_dict()

        output_tokens_per_s = self.output_tokens_per_s.to_dict()

        requests_per_s = self.requests_per_s

        seconds = self.seconds

        streamed = self.streamed

        tokens_in = self.tokens_in

        tokens_out = self.tokens_out

        tokens_out_per_s = self.tokens_out_per_s

        ttft_ms = self.ttft_ms.to_dict()

        upstream_fault_rate = self.upstream_fault_rate.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "attempts": attempts,
                "e2e_latency_ms": e2e_latency_ms,
                "error_rate": error_rate,
                "instances": instances,
                "itl_ms": itl_ms,
                "output_tokens_per_s": output_tokens_per_s,
                "requests_per_s": requests_per_s,
                "seconds": seconds,
                "streamed": streamed,
                "tokens_in": tokens_in,
                "tokens_out": tokens_out,
                "tokens_out_per_s": tokens_out_per_s,
                "ttft_ms": ttft_ms,
                "upstream_fault_rate": upstream_fault_rate,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attempt_counts_dto import AttemptCountsDto
        from ..models.distribution_dto import DistributionDto
        from ..models.rate_dto import RateDto

        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        attempts = AttemptCountsDto.from_dict(d.pop("attempts"))

        e2e_latency_ms = DistributionDto.from_dict(d.pop("e2e_latency_ms"))

        error_rate = RateDto.from_dict(d.pop("error_rate"))

        def _parse_instances(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        instances = _parse_instances(d.pop("instances"))

        itl_ms = DistributionDto.from_dict(d.pop("itl_ms"))

        output_tokens_per_s = DistributionDto.from_dict(d.pop("output_tokens_per_s"))

        requests_per_s = d.pop("requests_per_s")

        seconds = d.pop("seconds")

        streamed = d.pop("streamed")

        tokens_in = d.pop("tokens_in")

        tokens_out = d.pop("tokens_out")

        tokens_out_per_s = d.pop("tokens_out_per_s")

        ttft_ms = DistributionDto.from_dict(d.pop("ttft_ms"))

        upstream_fault_rate = RateDto.from_dict(d.pop("upstream_fault_rate"))

        metrics_point_dto = cls(
            at=at,
            attempts=attempts,
            e2e_latency_ms=e2e_latency_ms,
            error_rate=error_rate,
            instances=instances,
            itl_ms=itl_ms,
            output_tokens_per_s=output_tokens_per_s,
            requests_per_s=requests_per_s,
            seconds=seconds,
            streamed=streamed,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            tokens_out_per_s=tokens_out_per_s,
            ttft_ms=ttft_ms,
            upstream_fault_rate=upstream_fault_rate,
        )

        metrics_point_dto.additional_properties = d
        return metrics_point_dto

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
