from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SystemRetentionDto")


@_attrs_define
class SystemRetentionDto:
    """
    Attributes:
        context_passports (int): Context passports after they have expired
        events (int): Events at least: longer, where a kept operation, a subscription or a webhook still needs them
        idempotency_keys (int): Idempotency-Keys of mutations without an operation
        operations (int): Ended operations, and their Idempotency-Keys with them
        request_statistics (int): What metrics and gates are made of
        request_usage (int): Usage by token
    """

    context_passports: int
    events: int
    idempotency_keys: int
    operations: int
    request_statistics: int
    request_usage: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        context_passports = self.context_passports

        events = self.events

        idempotency_keys = self.idempotency_keys

        operations = self.operations

        request_statistics = self.request_statistics

        request_usage = self.request_usage

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "context_passports": context_passports,
                "events": events,
                "idempotency_keys": idempotency_keys,
                "operations": operations,
                "request_statistics": request_statistics,
                "request_usage": request_usage,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        context_passports = d.pop("context_passports")

        events = d.pop("events")

        idempotency_keys = d.pop("idempotency_keys")

        operations = d.pop("operations")

        request_statistics = d.pop("request_statistics")

        request_usage = d.pop("request_usage")

        system_retention_dto = cls(
            context_passports=context_passports,
            events=events,
            idempotency_keys=idempotency_keys,
            operations=operations,
            request_statistics=request_statistics,
            request_usage=request_usage,
        )

        system_retention_dto.additional_properties = d
        return system_retention_dto

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
