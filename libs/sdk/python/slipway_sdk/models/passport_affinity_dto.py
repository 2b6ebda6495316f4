from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PassportAffinityDto")


@_attrs_define
class PassportAffinityDto:
    """
    Attributes:
        bound_at (datetime.datetime | None):
        deployment (str): What requests of the session send as `model`
        guarantee (str): One of `best_effort`.
        mode (str): One of `none`, `soft`.
        revision (None | str): Name of the revision it is bound to; null before the first request and for a model API
        target (None | str): Opaque; equal while the session stays where it is
        ttl_seconds (int):
    """

    bound_at: datetime.datetime | None
    deployment: str
    guarantee: str
    mode: str
    revision: None | str
    target: None | str
    ttl_seconds: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bound_at: None | str
        if isinstance(self.bound_at, datetime.datetime):
            bound_at = self.bound_at.isoformat()
        else:
            bound_at = self.bound_at

        deployment = self.deployment

        guarantee = self.guarantee

        mode = self.mode

        revision: None | str
        revision = self.revision

        target: None | str
        target = self.target

        ttl_seconds = self.ttl_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bound_at": bound_at,
                "deployment": deployment,
                "guarantee": guarantee,
                "mode": mode,
                "revision": revision,
                "target": target,
                "ttl_seconds": ttl_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_bound_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                bound_at_type_0 = datetime.datetime.fromisoformat(data)

                return bound_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        bound_at = _parse_bound_at(d.pop("bound_at"))

        deployment = d.pop("deployment")

        guarantee = d.pop("guarantee")

        mode = d.pop("mode")

        def _parse_revision(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        revision = _parse_revision(d.pop("revision"))

        def _parse_target(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        target = _parse_target(d.pop("target"))

        ttl_seconds = d.pop("ttl_seconds")

        passport_affinity_dto = cls(
            bound_at=bound_at,
            deployment=deployment,
            guarantee=guarantee,
            mode=mode,
            revision=revision,
            target=target,
            ttl_seconds=ttl_seconds,
        )

        passport_affinity_dto.additional_properties = d
        return passport_affinity_dto

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
