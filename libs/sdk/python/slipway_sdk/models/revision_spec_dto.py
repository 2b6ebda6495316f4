from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.endpoint_spec_dto import EndpointSpecDto
    from ..models.model_spec_dto import ModelSpecDto
    from ..models.probes_spec_dto import ProbesSpecDto
    from ..models.resources_spec_dto import ResourcesSpecDto
    from ..models.runtime_spec_dto import RuntimeSpecDto
    from ..models.scaling_spec_dto import ScalingSpecDto


T = TypeVar("T", bound="RevisionSpecDto")


@_attrs_define
class RevisionSpecDto:
    """
    Attributes:
        model (ModelSpecDto):
        runtime (RuntimeSpecDto):
        endpoint (EndpointSpecDto | Unset):
        probes (ProbesSpecDto | Unset):
        resources (ResourcesSpecDto | Unset):
        scaling (ScalingSpecDto | Unset):
    """

    model: ModelSpecDto
    runtime: RuntimeSpecDto
    endpoint: EndpointSpecDto | Unset = UNSET
    probes: ProbesSpecDto | Unset = UNSET
    resources: ResourcesSpecDto | Unset = UNSET
    scaling: ScalingSpecDto | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        model = self.model.to_dict()

        runtime = self.runtime.to_dict()

        endpoint: dict[str, Any] | Unset = UNSET
        if not isinstance(self.endpoint, Unset):
            endpoint = self.endpoint.to_dict()

        probes: dict[str, Any] | Unset = UNSET
        if not isinstance(self.probes, Unset):
            probes = self.probes.to_dict()

        resources: dict[str, Any] | Unset = UNSET
        if not isinstance(self.resources, Unset):
            resources = self.resources.to_dict()

        scaling: dict[str, Any] | Unset = UNSET
        if not isinstance(self.scaling, Unset):
            scaling = self.scaling.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "model": model,
                "runtime": runtime,
            }
        )
        if endpoint is not UNSET:
            field_dict["endpoint"] = endpoint
        if probes is not UNSET:
            field_dict["probes"] = probes
        if resources is not UNSET:
            field_dict["resources"] = resources
        if scaling is not UNSET:
            field_dict["scaling"] = scaling

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.endpoint_spec_dto import EndpointSpecDto
        from ..models.model_spec_dto import ModelSpecDto
        from ..models.probes_spec_dto import ProbesSpecDto
        from ..models.resources_spec_dto import ResourcesSpecDto
        from ..models.runtime_spec_dto import RuntimeSpecDto
        from ..models.scaling_spec_dto import ScalingSpecDto

        d = dict(src_dict)
        model = ModelSpecDto.from_dict(d.pop("model"))

        runtime = RuntimeSpecDto.from_dict(d.pop("runtime"))

        _endpoint = d.pop("endpoint", UNSET)
        endpoint: EndpointSpecDto | Unset
        if isinstance(_endpoint, Unset):
            endpoint = UNSET
        else:
            endpoint = EndpointSpecDto.from_dict(_endpoint)

        _probes = d.pop("probes", UNSET)
        probes: ProbesSpecDto | Unset
        if isinstance(_probes, Unset):
            probes = UNSET
        else:
            probes = ProbesSpecDto.from_dict(_probes)

        _resources = d.pop("resources", UNSET)
        resources: ResourcesSpecDto | Unset
        if isinstance(_resources, Unset):
            resources = UNSET
        else:
            resources = ResourcesSpecDto.from_dict(_resources)

        _scaling = d.pop("scaling", UNSET)
        scaling: ScalingSpecDto | Unset
        if isinstance(_scaling, Unset):
            scaling = UNSET
        else:
            scaling = ScalingSpecDto.from_dict(_scaling)

        revision_spec_dto = cls(
            model=model,
            runtime=runtime,
            endpoint=endpoint,
            probes=probes,
            resources=resources,
            scaling=scaling,
        )

        revision_spec_dto.additional_properties = d
        return revision_spec_dto

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
