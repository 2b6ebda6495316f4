from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PassportStatsDto")


@_attrs_define
class PassportStatsDto:
    """
    Attributes:
        hits (int):
        last_rebind_reason (None | str): One of `target_unhealthy`, `revision_retired`, `weights_changed`,
            `ttl_expired`, `capacity`, `null`.
        misses (int):
        rebinds (int):
        requests (int):
    """

    hits: int
    last_rebind_reason: None | str
    misses: int
    rebinds: int
    requests: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        hits = self.hits

        last_rebind_reason: None | str
        last_rebind_reason = self.last_rebind_reason

        misses = self.misses

        rebinds = self.rebinds

        requests = self.requests

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "hits": hits,
                "last_rebind_reason": last_rebind_reason,
                "misses": misses,
                "rebinds": rebinds,
                "requests": requests,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        hits = d.pop("hits")

        def _parse_last_rebind_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        last_rebind_reason = _parse_last_rebind_reason(d.pop("last_rebind_reason"))

        misses = d.pop("misses")

        rebinds = d.pop("rebinds")

        requests = d.pop("requests")

        passport_stats_dto = cls(
            hits=hits,
            last_rebind_reason=last_rebind_reason,
            misses=misses,
            rebinds=rebinds,
            requests=requests,
        )

        passport_stats_dto.additional_properties = d
        return passport_stats_dto

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
