from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="EvidenceDto")


@_attrs_define
class EvidenceDto:
    """
    Attributes:
        confidence (float | Unset): One-sided. `0.95` unless given.
        max_age_seconds (int | Unset): `604800` unless given.
        min_duration_seconds (int | Unset): The gateways' records are kept for three days: beyond that only evidence
            from elsewhere can be long enough. `1800` unless given.
        min_samples (int | Unset): `50` unless given.
    """

    confidence: float | Unset = UNSET
    max_age_seconds: int | Unset = UNSET
    min_duration_seconds: int | Unset = UNSET
    min_samples: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        confidence = self.confidence

        max_age_seconds = self.max_age_seconds

        min_duration_seconds = self.min_duration_seconds

        min_samples = self.min_samples

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if confidence is not UNSET:
            field_dict["confidence"] = confidence
        if max_age_seconds is not UNSET:
            field_dict["max_age_seconds"] = max_age_seconds
        if min_duration_seconds is not UNSET:
            field_dict["min_duration_seconds"] = min_duration_seconds
        if min_samples is not UNSET:
            field_dict["min_samples"] = min_samples

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        confidence = d.pop("confidence", UNSET)

        max_age_seconds = d.pop("max_age_seconds", UNSET)

        min_duration_seconds = d.pop("min_duration_seconds", UNSET)

        min_samples = d.pop("min_samples", UNSET)

        evidence_dto = cls(
            confidence=confidence,
            max_age_seconds=max_age_seconds,
            min_duration_seconds=min_duration_seconds,
            min_samples=min_samples,
        )

        evidence_dto.additional_properties = d
        return evidence_dto

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
