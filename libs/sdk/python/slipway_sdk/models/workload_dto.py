from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.token_counts_dto import TokenCountsDto


T = TypeVar("T", bound="WorkloadDto")


@_attrs_define
class WorkloadDto:
    """
    Attributes:
        concurrency (int | Unset): Requests at the same time
        input_tokens (TokenCountsDto | Unset):
        output_tokens (TokenCountsDto | Unset):
        profile (str | Unset): One of `chat`, `rag`, `code`, `agent`, `batch`, `embedding`.
        request_rate (float | Unset): Requests per second
    """

    concurrency: int | Unset = UNSET
    input_tokens: TokenCountsDto | Unset = UNSET
    output_tokens: TokenCountsDto | Unset = UNSET
    profile: str | Unset = UNSET
    request_rate: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        concurrency = self.concurrency

        input_tokens: dict[str, Any] | Unset = UNSET
        if not isinstance(self.input_tokens, Unset):
            input_tokens = self.input_tokens.to_dict()

        output_tokens: dict[str, Any] | Unset = UNSET
        if not isinstance(self.output_tokens, Unset):
            output_tokens = self.output_tokens.to_dict()

        profile = self.profile

        request_rate = self.request_rate

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if concurrency is not UNSET:
            field_dict["concurrency"] = concurrency
        if input_tokens is not UNSET:
            field_dict["input_tokens"] = input_tokens
        if output_tokens is not UNSET:
            field_dict["output_tokens"] = output_tokens
        if profile is not UNSET:
            field_dict["profile"] = profile
        if request_rate is not UNSET:
            field_dict["request_rate"] = request_rate

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.token_counts_dto import TokenCountsDto

        d = dict(src_dict)
        concurrency = d.pop("concurrency", UNSET)

        _input_tokens = d.pop("input_tokens", UNSET)
        input_tokens: TokenCountsDto | Unset
        if isinstance(_input_tokens, Unset):
            input_tokens = UNSET
        else:
            input_tokens = TokenCountsDto.from_dict(_input_tokens)

        _output_tokens = d.pop("output_tokens", UNSET)
        output_tokens: TokenCountsDto | Unset
        if isinstance(_output_tokens, Unset):
            output_tokens = UNSET
        else:
            output_tokens = TokenCountsDto.from_dict(_output_tokens)

        profile = d.pop("profile", UNSET)

        request_rate = d.pop("request_rate", UNSET)

        workload_dto = cls(
            concurrency=concurrency,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            profile=profile,
            request_rate=request_rate,
        )

        workload_dto.additional_properties = d
        return workload_dto

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
