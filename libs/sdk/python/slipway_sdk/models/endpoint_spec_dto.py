from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="EndpointSpecDto")


@_attrs_define
class EndpointSpecDto:
    """
    Attributes:
        base_url (str | Unset): An OpenAI-compatible server that already runs; this, `base_urls` or both Example:
            http://127.0.0.1:8000.
        base_urls (list[str] | Unset): Further servers that have the same model; each is an instance of its own. At most
            32 with `base_url` Example: ['http://127.0.0.1:8001', 'http://127.0.0.1:8002'].
        credential_ref (str | Unset): A secret of the operator's configuration, sent as bearer token
        health_path (str | Unset): `"/health"` unless given.
        protocol (str | Unset): One of `openai`. `"openai"` unless given.
    """

    base_url: str | Unset = UNSET
    base_urls: list[str] | Unset = UNSET
    credential_ref: str | Unset = UNSET
    health_path: str | Unset = UNSET
    protocol: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        base_url = self.base_url

        base_urls: list[str] | Unset = UNSET
        if not isinstance(self.base_urls, Unset):
            base_urls = self.base_urls

        credential_ref = self.credential_ref

        health_path = self.health_path

        protocol = self.protocol

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if base_url is not UNSET:
            field_dict["base_url"] = base_url
        if base_urls is not UNSET:
            field_dict["base_urls"] = base_urls
        if credential_ref is not UNSET:
            field_dict["credential_ref"] = credential_ref
        if health_path is not UNSET:
            field_dict["health_path"] = health_path
        if protocol is not UNSET:
            field_dict["protocol"] = protocol

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        base_url = d.pop("base_url", UNSET)

        base_urls = cast(list[str], d.pop("base_urls", UNSET))

        credential_ref = d.pop("credential_ref", UNSET)

        health_path = d.pop("health_path", UNSET)

        protocol = d.pop("protocol", UNSET)

        endpoint_spec_dto = cls(
            base_url=base_url,
            base_urls=base_urls,
            credential_ref=credential_ref,
            health_path=health_path,
            protocol=protocol,
        )

        endpoint_spec_dto.additional_properties = d
        return endpoint_spec_dto

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
