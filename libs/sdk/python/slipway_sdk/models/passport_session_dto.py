from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PassportSessionDto")


@_attrs_define
class PassportSessionDto:
    """
    Attributes:
        key_hash (str): Keyed hash of the session key; the key itself is stored nowhere
        source (str): Where the key came from. One of `x-session-id`, `session_id`, `prompt_cache_key`, `user`,
            `declared`.
    """

    key_hash: str
    source: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        key_hash = self.key_hash

        source = self.source

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "key_hash": key_hash,
                "source": source,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        key_hash = d.pop("key_hash")

        source = d.pop("source")

        passport_session_dto = cls(
            key_hash=key_hash,
            source=source,
        )

        passport_session_dto.additional_properties = d
        return passport_session_dto

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
